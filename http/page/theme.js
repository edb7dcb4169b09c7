// Dark and light: as the system says until somebody chooses, then as chosen, in this browser.

const KEY = 'hourglass.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

export function currentTheme() {
  return document.documentElement.dataset.theme;
}

// What was chosen, where the browser keeps nothing for pages, or lets them not.
let kept = null;

function chosenTheme() {
  try {
    return localStorage.getItem(KEY) ?? kept;
  } catch {
    return kept;
  }
}

function choose(theme) {
  kept = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // For this visit, then.
  }
}

function apply() {
  const chosen = chosenTheme();
  document.documentElement.dataset.theme = chosen ?? (dark.matches ? 'dark' : 'light');
  document.dispatchEvent(new Event('themechange'));
}

export function toggleTheme() {
  choose(currentTheme() === 'dark' ? 'light' : 'dark');
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
