// A menu behind a button: the browser's popover, navigated with the arrow keys.
import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";
import { Icon, type IconName } from "./Icon.tsx";

export interface Item {
  label: ReactNode;
  icon?: IconName;
  act: () => void;
  danger?: boolean;
  disabled?: boolean;
}

export function Menu({ name, icon = "more", label, items }: { name: string; icon?: IconName; label?: ReactNode; items: readonly Item[] }) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const place = () => {
    const at = button.current?.getBoundingClientRect();
    const menu = box.current;
    if (!at || !menu) return;
    menu.style.top = `${Math.min(at.bottom + 4, window.innerHeight - menu.offsetHeight - 8)}px`;
    menu.style.left = `${Math.max(8, Math.min(at.right - menu.offsetWidth, window.innerWidth - menu.offsetWidth - 8))}px`;
    menu.querySelector<HTMLElement>("[role=menuitem]:not(:disabled)")?.focus();
  };
  const move = (event: KeyboardEvent) => {
    const all = [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]:not(:disabled)") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    all[(at + step + all.length) % all.length]?.focus();
  };
  return (
    <>
      <button ref={button} type="button" className={`button ${label ? "" : "button-quiet button-icon"}`} aria-label={label ? undefined : name} title={name} aria-haspopup="menu" popoverTarget={id}>
        {label}
        <Icon icon={label ? "down" : icon} />
      </button>
      <div
        ref={box}
        id={id}
        popover="auto"
        role="menu"
        aria-label={name}
        className="menu"
        onKeyDown={move}
        onToggle={(event) => {
          if (event.newState === "open") place();
        }}
      >
        {items.map((item, index) => (
          <button
            key={index}
            type="button"
            role="menuitem"
            tabIndex={-1}
            className={`menu-item ${item.danger ? "menu-danger" : ""}`}
            disabled={item.disabled}
            onClick={() => {
              box.current?.hidePopover();
              item.act();
            }}
          >
            {item.icon && <Icon icon={item.icon} />}
            {item.label}
          </button>
        ))}
      </div>
    </>
  );
}
