// Formats numbers for display. Pure.

/** 1,234,567 */
export function formatInteger(value: number): string {
  return Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** 950, 1.2 k, 3.4 M: for narrow places. */
export function formatCompact(value: number): string {
  const size = Math.abs(value);
  if (size < 1000) return trimZeros(value, size < 10 && !Number.isInteger(value) ? 1 : 0);
  if (size < 999_500) return `${trimZeros(value / 1000, size < 9_950 ? 1 : 0)} k`;
  if (size < 999_500_000) return `${trimZeros(value / 1e6, size < 9_950_000 ? 1 : 0)} M`;
  return `${trimZeros(value / 1e9, 1)} G`;
}

/** A rate, with two significant digits: 0.02, 3.4, 120. */
export function formatRate(value: number): string {
  if (value === 0) return "0";
  if (value < 0.01) return "< 0.01";
  return value < 1 ? trimZeros(value, 2) : value < 10 ? trimZeros(value, 1) : formatInteger(value);
}

/** A share, as in 4.2 %. */
export function formatPercent(share: number): string {
  const value = share * 100;
  if (value === 0) return "0 %";
  if (value < 0.01) return "< 0.01 %";
  return `${trimZeros(value, value < 1 ? 2 : value < 10 ? 1 : 0)} %`;
}

/** "1 run", "2 runs". */
export function formatCount(number: number, one: string, many = `${one}s`): string {
  return `${formatInteger(number)} ${number === 1 ? one : many}`;
}

function trimZeros(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
