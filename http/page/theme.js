// Dark and light: as the system says until somebody chooses, then as chosen, in this browser.

const KEY = 'hourglass.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

export function currentTheme() {
  return document.documentElement.dataset.theme;
}

function apply() {
  const chosen = localStorage.getItem(KEY);
  document.documentElement.dataset.theme = chosen ?? (dark.matches ? 'dark' : 'light');
  document.dispatchEvent(new Event('themechange'));
}

export function toggleTheme() {
  localStorage.setItem(KEY, currentTheme() === 'dark' ? 'light' : 'dark');
  apply();
}

export function startTheme() {
  dark.addEventListener('change', apply);
  apply();
}

/** A colour of page.css, such as "--ink". */
export function themeColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
