// Numbers as people read them.

const PREFIXES = [
  [1e15, 'P'],
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];
const BINARY = [
  [2 ** 50, 'PiB'],
  [2 ** 40, 'TiB'],
  [2 ** 30, 'GiB'],
  [2 ** 20, 'MiB'],
  [2 ** 10, 'KiB'],
];

const short = (value, digits) => String(Number(value.toPrecision(digits)));

/** 1234567 → "1.235M"; null → "–". */
export function formatNumber(value, digits = 4) {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  for (const [unit, prefix] of PREFIXES)
    if (size >= unit) return short(value / unit, digits) + prefix;
  return short(value, digits);
}

/** 1536 → "1.5 KiB". */
export function formatBytes(value) {
  if (value === null || value === undefined) return '–';
  for (const [unit, name] of BINARY) if (value >= unit) return `${short(value / unit, 3)} ${name}`;
  return `${value} B`;
}
