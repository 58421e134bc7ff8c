-- Leaves out rows of transactions that a read has returned already, in the times that it read. The
-- place in a sorted array is found by binary search: there may be thousands of transactions.
and not coalesce(
    (:read_xids::bigint[])[
        width_bucket({row}.xmin::text::bigint, :read_xids::bigint[])
    ] = {row}.xmin::text::bigint
    and {row}.{at} >= (:read_since::timestamptz[])[
        width_bucket({row}.xmin::text::bigint, :read_xids::bigint[])
    ]
    and {row}.{at} < (:read_until::timestamptz[])[
        width_bucket({row}.xmin::text::bigint, :read_xids::bigint[])
    ],
    false
)
