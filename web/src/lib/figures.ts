// Numbers for people. Pure.

/** 1,234,567 */
export function whole(value: number): string {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** 950, 1.2 k, 3.4 M: for places with no room. */
export function compact(value: number): string {
  const size = Math.abs(value);
  if (size < 1000) return trimmed(value, size < 10 && !Number.isInteger(value) ? 1 : 0);
  if (size < 999_500) return `${trimmed(value / 1000, size < 9_950 ? 1 : 0)} k`;
  if (size < 999_500_000) return `${trimmed(value / 1e6, size < 9_950_000 ? 1 : 0)} M`;
  return `${trimmed(value / 1e9, 1)} G`;
}

/** Per second, with as many digits as say something: 0.02, 3.4, 120. */
export function rate(value: number): string {
  if (value === 0) return "0";
  if (value < 0.01) return "< 0.01";
  return value < 1 ? trimmed(value, 2) : value < 10 ? trimmed(value, 1) : whole(value);
}

/** A share as in 4.2 %. */
export function percent(share: number): string {
  const value = share * 100;
  if (value === 0) return "0 %";
  if (value < 0.01) return "< 0.01 %";
  return `${trimmed(value, value < 1 ? 2 : value < 10 ? 1 : 0)} %`;
}

/** "1 run", "2 runs". */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${whole(number)} ${number === 1 ? one : many}`;
}

function trimmed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
