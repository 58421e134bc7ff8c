// Buttons, and links that look like buttons.
import type { ComponentProps, ReactNode } from "react";
import { Link } from "wouter";
import { Icon, type IconName } from "./Icon.tsx";

type Look = "plain" | "primary" | "danger" | "quiet";

function classes(look: Look, isSmall: boolean | undefined, isIcon: boolean): string {
  return ["button", look === "plain" ? "" : `button-${look}`, isSmall ? "button-small" : "", isIcon ? "button-icon" : ""]
    .filter(Boolean)
    .join(" ");
}

interface ButtonProps {
  look?: Look;
  icon?: IconName;
  small?: boolean;
  children?: ReactNode;
}

export function Button({ look = "plain", icon, small, children, ...rest }: ButtonProps & ComponentProps<"button">) {
  return (
    <button type="button" {...rest} className={classes(look, small, false)}>
      {icon && <Icon icon={icon} />}
      {children}
    </button>
  );
}

/** `name` describes the action, for screen readers and on hover. */
export function IconButton({ look = "quiet", icon, name, ...rest }: { look?: Look; icon: IconName; name: string } & ComponentProps<"button">) {
  return (
    <button type="button" aria-label={name} title={name} {...rest} className={classes(look, false, true)}>
      <Icon icon={icon} />
    </button>
  );
}

export function ButtonLink({ look = "plain", icon, small, children, href }: ButtonProps & { href: string }) {
  return (
    <Link href={href} className={classes(look, small, false)}>
      {icon && <Icon icon={icon} />}
      {children}
    </Link>
  );
}
