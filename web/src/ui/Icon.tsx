// Rota's icons, 16 by 16, drawn with one stroke width.
const PATHS = {
  check: "M3.5 8.5l3 3 6-7",
  cross: "M4 4l8 8M12 4l-8 8",
  play: "M5 3.5v9l7-4.5z",
  clock: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M8 5v3.2l2 1.3",
  redo: "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3",
  dash: "M4 8h8",
  pause: "M5.5 4v8M10.5 4v8",
  stop: "M4.5 4.5h7v7h-7z",
  alert: "M8 2.5l6 10.5H2zM8 6.5v3M8 11.4v.1",
  dot: "M8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6",
  merge: "M4 3v3a4 4 0 0 0 4 4h4M10 8l2 2-2 2M4 6v7",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.3 10.3L13.5 13.5",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  plus: "M8 3v10M3 8h10",
  up: "M4 9.5l4-4 4 4",
  down: "M4 6.5l4 4 4-4",
  right: "M6.5 4l4 4-4 4",
  left: "M9.5 4l-4 4 4 4",
  copy: "M5.5 5.5h7v7h-7zM3.5 10.5v-7h7",
  edit: "M3 13l.7-2.8L10.5 3.4l2.1 2.1-6.8 6.8zM9.3 4.6l2.1 2.1",
  trash: "M3.5 4.5h9M6.5 4.5v-2h3v2M4.7 4.5l.6 9h5.4l.6-9",
  key: "M5 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5M7.5 8h6.5v2.5M11 8v2",
  lock: "M4 7.5h8v6H4zM5.5 7.5v-2a2.5 2.5 0 0 1 5 0v2",
  people: "M6 3a2.2 2.2 0 1 0 0 4.4A2.2 2.2 0 0 0 6 3M2.5 13c0-2.2 1.5-3.6 3.5-3.6S9.5 10.8 9.5 13M10.5 3.3a2.2 2.2 0 0 1 0 4M11.5 9.7c1.3.4 2 1.6 2 3.3",
  sun: "M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5M8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1",
  moon: "M13 9.5A5.5 5.5 0 1 1 6.5 3a4.5 4.5 0 0 0 6.5 6.5",
  screen: "M2.5 3.5h11v7.5h-11zM6 13.5h4M8 11v2.5",
  home: "M2.5 8L8 3l5.5 5M4.5 7v6h7V7",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  pulse: "M1.5 8.5h3l2-5 3 9 2-4h3",
  graph: "M3 3h3v3H3zM10 6.5h3v3h-3zM3 10.5h3v3H3zM6 4.5h2.5V12H6M8.5 8H10",
  calendar: "M2.5 4h11v9.5h-11zM2.5 7h11M5.5 2.5v3M10.5 2.5v3",
  skull: "M8 2.5a4.5 4.5 0 0 0-2.5 8.2v2.3h5v-2.3A4.5 4.5 0 0 0 8 2.5M6.3 7.5h.01M9.7 7.5h.01M8 11v2",
  stack: "M8 2.5L14 5.5 8 8.5 2 5.5zM2.5 8.5L8 11.3l5.5-2.8M2.5 11L8 13.8 13.5 11",
  chip: "M4.5 4.5h7v7h-7zM6.5 2v2.5M9.5 2v2.5M6.5 11.5V14M9.5 11.5V14M2 6.5h2.5M2 9.5h2.5M11.5 6.5H14M11.5 9.5H14",
  bolt: "M8.5 2L4 9h3.5L7 14l5-7.5H8.5z",
  history: "M3 8a5 5 0 1 0 1.6-3.7M3 2.5v3h3M8 5.5V8l2 1.3",
  book: "M3 3.5c2-.8 3.6-.5 5 .7 1.4-1.2 3-1.5 5-.7v8.8c-2-.8-3.6-.5-5 .7-1.4-1.2-3-1.5-5-.7zM8 4.2V13",
  out: "M9.5 3h-6v10h6M7 8h7M11.5 5.5L14 8l-2.5 2.5",
  filter: "M2.5 3.5h11L9.5 8.5v4l-3 1v-5z",
} as const;

export type IconName = keyof typeof PATHS;

/** Decorative: a text beside it carries the meaning. */
export function Icon({ icon, className = "" }: { icon: IconName; className?: string }) {
  return (
    <svg className={`icon ${className}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path
        d={PATHS[icon]}
        fill={icon === "play" || icon === "dot" ? "currentColor" : "none"}
        stroke="currentColor"
        strokeWidth={icon === "more" || icon === "list" ? 1.8 : 1.5}
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
