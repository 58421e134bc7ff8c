// Rota's logo.
export function Logo() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M16 7a9 9 0 1 1-8.2 5.3M16 11v5l3.5 2.5" />
    </svg>
  );
}
