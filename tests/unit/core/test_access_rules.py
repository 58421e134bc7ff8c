"""Who may do what: a ladder of roles and one function that decides (T2)."""

from itertools import pairwise
from uuid import UUID

import pytest

from rota.core.access import (
    ROLE_PERMISSIONS,
    Permission,
    Principal,
    Role,
    is_allowed,
    require_grant,
    require_permission,
)
from rota.core.errors import NotAllowed

LADDER = [Role.VIEWER, Role.OPERATOR, Role.ADMIN, Role.PLATFORM]


def principal(role: Role) -> Principal:
    return Principal(key_id=UUID(int=1), tenant_id=1, tenant="default", role=role, name="key")


@pytest.mark.parametrize(
    ("role", "permitted"),
    [
        (Role.VIEWER, {Permission.READ}),
        (Role.OPERATOR, {Permission.READ, Permission.OPERATE, Permission.DEFINE}),
        (Role.ADMIN, set(Permission) - {Permission.PLATFORM}),
        (Role.PLATFORM, set(Permission)),
    ],
)
def test_a_role_may_exactly_what_is_written_here(role: Role, permitted: set[Permission]) -> None:
    assert {each for each in Permission if is_allowed(principal(role), each)} == permitted


def test_every_role_may_more_than_the_one_below() -> None:
    assert set(ROLE_PERMISSIONS) == set(Role) == set(LADDER)
    for lower, higher in pairwise(LADDER):
        assert ROLE_PERMISSIONS[lower] < ROLE_PERMISSIONS[higher]


def test_what_is_not_permitted_is_refused_with_the_role_and_the_permission() -> None:
    with pytest.raises(
        NotAllowed, match="role viewer cannot operate jobs and runs; role operator is required"
    ):
        require_permission(principal(Role.VIEWER), Permission.OPERATE)

    require_permission(principal(Role.OPERATOR), Permission.OPERATE)


@pytest.mark.parametrize(
    ("giver", "given"),
    [(Role.ADMIN, Role.PLATFORM), (Role.OPERATOR, Role.VIEWER), (Role.VIEWER, Role.VIEWER)],
)
def test_nobody_hands_out_more_than_they_have(giver: Role, given: Role) -> None:
    with pytest.raises(NotAllowed):
        require_grant(principal(giver), given)


@pytest.mark.parametrize(
    ("giver", "given"),
    [(Role.ADMIN, Role.ADMIN), (Role.ADMIN, Role.VIEWER), (Role.PLATFORM, Role.PLATFORM)],
)
def test_an_admin_hands_out_keys_up_to_the_own_role(giver: Role, given: Role) -> None:
    require_grant(principal(giver), given)
