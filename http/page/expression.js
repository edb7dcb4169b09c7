// A sub-query as one text, in the grammar of m= in /api/query (opentsdb-http-api.md §10.2), and back:
//   aggregator:[downsample:][rate…:]metric{grouping filters}{other filters}
// What a filter says may hold , { } : and %: they are written as %XX here, which OpenTSDB's grammar
// has no word for. Such texts are for the address of the page; isPlain tells whether a server
// understands one, too.

/**
 * valueFilter: of docs/extensions.md, such as ">90". downsample: as in m=, or auto-FUNCTION[-FILL].
 * right: drawn against the axis on the right, of which m= knows nothing.
 */
export function newSubQuery(metric = '') {
  return {
    metric,
    aggregator: 'sum',
    downsample: 'auto-avg',
    rate: null,
    filters: [],
    explicitTags: false,
    valueFilter: '',
    right: false,
  };
}

/** Those that say something: one that is being typed does not yet. */
export function completeFilters(sub) {
  return sub.filters.filter(({ tagk, filter }) => tagk !== '' && filter !== '');
}

const FILTER = /^([A-Za-z_]+)\((.*)\)$/s;
const RATE = /^rate(?:\{([^}]*)\})?$/i;

export function printExpression(sub) {
  const parts = [sub.aggregator];
  if (sub.downsample) parts.push(sub.downsample);
  if (sub.rate) parts.push('rate' + printRateOptions(sub.rate));
  if (sub.explicitTags) parts.push('explicit_tags');
  if (sub.valueFilter) parts.push(`value${sub.valueFilter}`);
  const filters = completeFilters(sub);
  const grouping = filters.filter((filter) => filter.groupBy).map(printFilter);
  const others = filters.filter((filter) => !filter.groupBy).map(printFilter);
  let tags = '';
  if (grouping.length > 0 || others.length > 0) tags = `{${grouping.join(',')}}`;
  if (others.length > 0) tags += `{${others.join(',')}}`;
  return `${parts.join(':')}:${sub.metric}${tags}`;
}

function printRateOptions(rate) {
  if (!rate.counter) return '';
  const word = rate.drop ? 'dropcounter' : 'counter';
  if (rate.reset) return `{${word},${rate.max ?? ''},${rate.reset}}`;
  return rate.max ? `{${word},${rate.max}}` : `{${word}}`;
}

function printFilter({ tagk, type, filter }) {
  if (type === 'wildcard' && filter === '*') return `${escape(tagk)}=*`;
  if (type === 'literal_or' && !/[*()]/.test(filter)) return `${escape(tagk)}=${escape(filter)}`;
  return `${escape(tagk)}=${type}(${escape(filter)})`;
}

function escape(text) {
  return text.replace(/[%,{}:]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase());
}

function unescape(text) {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, digits) =>
    String.fromCharCode(parseInt(digits, 16)),
  );
}

export function isPlain(expression) {
  return !/%[0-9A-Fa-f]{2}/.test(expression);
}

/** Throws an Error that says what is wrong with the text. */
export function parseExpression(text) {
  const brace = text.search(/\{[^{}]*\}(\{[^{}]*\})?$/);
  // Braces of rate{…} do not end the text, those of tags do.
  const head = brace < 0 ? text : text.slice(0, brace);
  const pieces = head.split(':');
  if (pieces.length < 2) throw new Error(`"${text}" is no aggregator:metric`);
  const sub = { ...newSubQuery(pieces.at(-1)), aggregator: pieces[0], downsample: '' };
  if (sub.metric === '') throw new Error(`"${text}" names no metric`);
  for (const piece of pieces.slice(1, -1)) readOption(piece, sub);
  if (brace >= 0) {
    const groups = [...text.slice(brace).matchAll(/\{([^{}]*)\}/g)].map((group) => group[1]);
    groups.forEach((group, i) => sub.filters.push(...parseFilters(group, i === 0)));
  }
  return sub;
}

function readOption(piece, sub) {
  const rate = RATE.exec(piece);
  if (rate) {
    const [word = '', max = '', reset = ''] = (rate[1] ?? '').split(',');
    sub.rate = {
      counter: word.endsWith('counter'),
      drop: word === 'dropcounter',
      max: Number(max) || null,
      reset: Number(reset) || null,
    };
  } else if (/^(\d|auto-)/i.test(piece)) {
    sub.downsample = piece;
  } else if (/^explicit_tags$/i.test(piece)) {
    sub.explicitTags = true;
  } else if (/^value[<>=!]/i.test(piece)) {
    sub.valueFilter = piece.slice(5);
  }
  // Others are for histograms and rollups, which this page does not ask for; OpenTSDB passes over
  // unknown ones, too.
}

function parseFilters(text, groupBy) {
  return text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      if (equals < 1) throw new Error(`"${part}" is no tag=filter`);
      const tagk = unescape(part.slice(0, equals));
      const value = unescape(part.slice(equals + 1));
      const typed = FILTER.exec(value);
      if (typed) return { tagk, type: typed[1].toLowerCase(), filter: typed[2], groupBy };
      return {
        tagk,
        type: value.includes('*') ? 'wildcard' : 'literal_or',
        filter: value,
        groupBy,
      };
    });
}
