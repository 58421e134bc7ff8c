// Buttons, and links that look like one.
import type { ComponentProps, ReactNode } from "react";
import { Link } from "wouter";
import { Icon, type Sign } from "./Icon.tsx";

type Look = "plain" | "primary" | "danger" | "quiet";

function classes(look: Look, isSmall: boolean | undefined, isIcon: boolean): string {
  return ["button", look === "plain" ? "" : `button-${look}`, isSmall ? "button-small" : "", isIcon ? "button-icon" : ""]
    .filter(Boolean)
    .join(" ");
}

interface Shape {
  look?: Look;
  sign?: Sign;
  small?: boolean;
  children?: ReactNode;
}

export function Button({ look = "plain", sign, small, children, ...rest }: Shape & ComponentProps<"button">) {
  return (
    <button type="button" {...rest} className={classes(look, small, false)}>
      {sign && <Icon sign={sign} />}
      {children}
    </button>
  );
}

/** `name` is what it does, in words: for those who do not see the sign, and on hover. */
export function IconButton({ look = "quiet", sign, name, ...rest }: { look?: Look; sign: Sign; name: string } & ComponentProps<"button">) {
  return (
    <button type="button" aria-label={name} title={name} {...rest} className={classes(look, false, true)}>
      <Icon sign={sign} />
    </button>
  );
}

export function ButtonLink({ look = "plain", sign, small, children, href }: Shape & { href: string }) {
  return (
    <Link href={href} className={classes(look, small, false)}>
      {sign && <Icon sign={sign} />}
      {children}
    </Link>
  );
}
