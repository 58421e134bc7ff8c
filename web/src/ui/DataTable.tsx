// A table: sorted by its column heads, navigated by keys, and virtualised once it has many rows. The
// page that uses it loads the rows and keeps the state in the URL.
//
//   <DataTable name="Jobs" rows={rows} columns={columns} rowKey={(job) => job.job_id}
//              href={(job) => `/jobs/${job.job_id}`} more={pages} empty={<EmptyState …/>} keys />
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type MouseEvent, type ReactNode, memo, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { Button } from "./Button.tsx";
import { Icon } from "./Icon.tsx";

export interface Column<R> {
  id: string;
  head: string;
  cell: (row: R) => ReactNode;
  num?: boolean;
  /** Hidden on narrower screens. */
  show?: "middle" | "wide";
  sort?: boolean;
}

export interface Sort {
  by: string;
  down: boolean;
}

interface TableProps<R> {
  name: string;
  rows: readonly R[];
  columns: readonly Column<R>[];
  rowKey: (row: R) => string;
  /** The target of a click on a row. */
  href?: (row: R) => string;
  sort?: Sort | null;
  onSort?: (sort: Sort) => void;
  more?: { hasMore: boolean; loadMore: () => void; isFetching: boolean };
  empty: ReactNode;
  foot?: ReactNode;
  /** j, k and Enter work from anywhere on the page: for the page's main table. */
  keys?: boolean;
  /** The table scrolls instead of the page. */
  tall?: boolean;
}

/** With more rows than this, only visible rows are rendered. */
const VIRTUAL_MIN_ROWS = 80;

export function DataTable<R>(table: TableProps<R>) {
  const { rows, columns, name, more } = table;
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<number | null>(null);
  const isMany = rows.length > VIRTUAL_MIN_ROWS;
  const virtual = useVirtualizer({
    count: isMany ? rows.length : 0,
    getScrollElement: () => box.current,
    estimateSize: () => 41,
    overscan: 6,
  });
  const items = virtual.getVirtualItems();
  const shown = isMany ? items.map((item) => item.index) : rows.map((_, index) => index);
  useLoadMore(isMany ? (items.at(-1)?.index ?? 0) : 0, rows.length, isMany ? more : undefined);
  const moveTo = (index: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, index));
    setActive(next);
    if (isMany) virtual.scrollToIndex(next);
    requestAnimationFrame(() => focusRow(box.current, next));
  };
  useRowKeys(table.keys ?? false, (step) => moveTo(active === null ? 0 : active + step));
  if (rows.length === 0) return <>{table.empty}</>;
  return (
    <>
      <div ref={box} className={`table-box ${table.tall || isMany ? "table-tall" : ""}`} onKeyDown={(event) => handleArrowKey(event, (step) => moveTo((active ?? -1) + step))}>
        <table className="table" aria-label={name} aria-rowcount={rows.length + 1}>
          <thead>
            <tr>
              {columns.map((column) => (
                <Head key={column.id} column={column} sort={table.sort ?? null} onSort={table.onSort} />
              ))}
            </tr>
          </thead>
          <tbody>
            {isMany && <SpacerRow height={items[0]?.start ?? 0} columns={columns.length} />}
            {shown.map((index) => {
              const row = rows[index];
              return row === undefined ? null : (
                <BodyRow key={table.rowKey(row)} row={row} index={index} columns={columns} href={table.href?.(row)} isActive={active === index} focus={setActive} />
              );
            })}
            {isMany && <SpacerRow height={virtual.getTotalSize() - (items.at(-1)?.end ?? 0)} columns={columns.length} />}
          </tbody>
        </table>
      </div>
      {(table.foot || more?.hasMore) && (
        <div className="table-foot">
          <span>{table.foot}</span>
          {more?.hasMore && (
            <Button small disabled={more.isFetching} onClick={more.loadMore}>
              {more.isFetching ? "Loading…" : "Show more"}
            </Button>
          )}
        </div>
      )}
    </>
  );
}

function classes<R>(column: Column<R>): string {
  return [column.num ? "num" : "", column.show ? `col-${column.show}` : ""].filter(Boolean).join(" ");
}

function Head<R>({ column, sort, onSort }: { column: Column<R>; sort: Sort | null; onSort: ((sort: Sort) => void) | undefined }) {
  const isOn = sort?.by === column.id;
  if (!column.sort || !onSort) {
    return (
      <th scope="col" className={classes(column)}>
        {column.head || <span className="hidden-text">{column.id}</span>}
      </th>
    );
  }
  return (
    <th scope="col" className={classes(column)} aria-sort={isOn ? (sort.down ? "descending" : "ascending") : "none"}>
      <button type="button" className="table-sort" onClick={() => onSort({ by: column.id, down: isOn ? !sort.down : false })}>
        {column.head}
        {isOn && <Icon icon={sort.down ? "down" : "up"} />}
      </button>
    </th>
  );
}

interface RowProps<R> {
  row: R;
  index: number;
  columns: readonly Column<R>[];
  href: string | undefined;
  isActive: boolean;
  focus: (index: number) => void;
}

/** Rerenders only if it changed: scrolling by one row renders one row. */
const BodyRow = memo(Row) as typeof Row;

function Row<R>({ row, index, columns, href, isActive, focus }: RowProps<R>) {
  const [, navigate] = useLocation();
  const open = (event: MouseEvent) => {
    // A click on a link, button or selection inside the row does not open the row.
    const isInner = (event.target as HTMLElement).closest("a, button, input, label, select");
    if (!href || isInner || window.getSelection()?.toString()) return;
    if (event.metaKey || event.ctrlKey) window.open(href, "_blank", "noopener");
    else navigate(href);
  };
  return (
    <tr data-index={index} data-active={isActive || undefined} aria-rowindex={index + 2} className={href ? "table-row-open" : ""} onClick={open} onFocus={() => focus(index)}>
      {columns.map((column) => (
        <td key={column.id} className={classes(column)}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

function SpacerRow({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null;
  return (
    <tr className="table-gap" aria-hidden="true">
      <td colSpan={columns} style={{ height }} />
    </tr>
  );
}

function focusRow(box: HTMLElement | null, index: number): void {
  const row = box?.querySelector<HTMLElement>(`tr[data-index="${index}"]`);
  const inner = row?.querySelector<HTMLElement>("a, button");
  inner?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
}

function handleArrowKey(event: KeyboardEvent, go: (step: number) => void): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || (event.target as HTMLElement).closest("input, select, textarea, [role=menu]")) return;
  event.preventDefault();
  go(step);
}

function useRowKeys(isOn: boolean, go: (step: number) => void): void {
  const latest = useRef(go);
  latest.current = go;
  useEffect(() => {
    if (!isOn) return;
    const listen = (event: globalThis.KeyboardEvent) => {
      const step = { j: 1, k: -1 }[event.key];
      const isTyping = (event.target as HTMLElement).closest("input, select, textarea, dialog");
      if (step === undefined || isTyping || event.metaKey || event.ctrlKey || event.altKey) return;
      event.preventDefault();
      latest.current(step);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [isOn]);
}

/** Loads the next page before the end is visible. */
function useLoadMore(last: number, count: number, more: { hasMore: boolean; loadMore: () => void; isFetching: boolean } | undefined): void {
  const latest = useRef(more);
  latest.current = more;
  useEffect(() => {
    const now = latest.current;
    if (now?.hasMore && !now.isFetching && last >= count - 20) now.loadMore();
  }, [last, count]);
}
