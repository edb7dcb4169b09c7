// Calls of this server. Addresses are relative, so that the page works behind a proxy's folder,
// too.

/** What the server answered that is no success, in its own words. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function ask(path, options) {
  const response = await fetch(path, options);
  if (response.status === 204) return null;
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  throw new ApiError(
    response.status,
    messageOf(text) || `${response.status} ${response.statusText}`,
  );
}

function messageOf(text) {
  try {
    const { error } = JSON.parse(text);
    const { message, details } = error;
    // A failed query repeats itself, or shows the whole query, as details.
    return details && details !== message && details.length < 300
      ? `${message}: ${details}`
      : message;
  } catch {
    return text.slice(0, 300);
  }
}

const words = (parameters) => new URLSearchParams(parameters).toString();

export const api = {
  query: (body, signal) =>
    ask('api/query?arrays', { method: 'POST', body: JSON.stringify(body), signal }),
  suggest: (type, q, max, signal) => ask(`api/suggest?${words({ type, q, max })}`, { signal }),
  aggregators: () => ask('api/aggregators'),
  filters: () => ask('api/config/filters'),
  stats: () => ask('api/stats'),
  queries: () => ask('api/stats/query'),
  endQuery: (id) => ask(`api/stats/query?${words({ id })}`, { method: 'DELETE' }),
  regions: () => ask('api/admin/regions'),
  tagCounts: (m, limit, signal) => ask(`api/search/tags?${words({ m, limit })}`, { signal }),
  user: () => ask('api/user'),
  /** The one at that time, in seconds; null: there is none. */
  annotationAt: ({ tsuid = '', startTime }) =>
    ask(`api/annotation?${words({ start_time: startTime, tsuid })}`).catch((error) => {
      if (error.status === 404) return null;
      throw error;
    }),
  // By the body alone: times in the query string are cut to seconds.
  writeAnnotation: (note) => ask('api/annotation', { method: 'PUT', body: JSON.stringify(note) }),
  deleteAnnotation: ({ tsuid, startTime }) =>
    ask('api/annotation', { method: 'DELETE', body: JSON.stringify({ tsuid, startTime }) }),
  version: () => ask('api/version'),
};
