// Reading the metrics: the few families of docs/logging-metrics.md that the page shows, summed up by pool and
// member.

/** counts is what was counted of a pool or a member since the daemon started. */
const counts = () => ({ total: 0, failed: 0 });

/**
 * parseMetrics reads the text format of Prometheus. It returns a map from each pool's name to
 * {requests, retries, buckets, attempts, members}: requests is how many came, buckets how many of them took no longer
 * than a bound, members the attempts by address, {total, failed}. attempts is their sum, null where the daemon counts
 * none by member (metrics.per_member).
 */
export function parseMetrics(text) {
  const pools = new Map();
  const pool = (name) => {
    let p = pools.get(name);
    if (!p) pools.set(name, (p = { requests: 0, retries: 0, buckets: [], attempts: null, members: new Map() }));
    return p;
  };
  for (let at = 0; at < text.length; ) {
    let end = text.indexOf("\n", at);
    if (end < 0) end = text.length;
    if (text.startsWith("scalws_upstream_", at)) read(text.slice(at, end), pool);
    at = end + 1;
  }
  return pools;
}

function read(line, pool) {
  const open = line.indexOf("{");
  const close = line.lastIndexOf("}");
  if (open < 0 || close < open) return;
  const value = Number(line.slice(close + 1));
  switch (line.slice(0, open)) {
    case "scalws_upstream_requests_total": {
      const l = labels(line.slice(open + 1, close));
      const p = pool(l.pool);
      p.attempts ??= counts();
      let m = p.members.get(l.member);
      if (!m) p.members.set(l.member, (m = counts()));
      for (const c of [p.attempts, m]) {
        c.total += value;
        if (l.class === "5xx" || l.class === "error") c.failed += value;
      }
      break;
    }
    case "scalws_upstream_request_duration_seconds_bucket": {
      const l = labels(line.slice(open + 1, close));
      pool(l.pool).buckets.push([l.le === "+Inf" ? Infinity : Number(l.le), value]);
      break;
    }
    case "scalws_upstream_request_duration_seconds_count":
      pool(labels(line.slice(open + 1, close)).pool).requests = value;
      break;
    case "scalws_upstream_pool_retries_total":
      pool(labels(line.slice(open + 1, close)).pool).retries = value;
      break;
  }
}

/** labels reads name="value" pairs; a value has escapes for \, " and the line's end. */
function labels(text) {
  const all = {};
  for (let at = 0; at < text.length; ) {
    const equals = text.indexOf('="', at);
    if (equals < 0) break;
    let end = text.indexOf('"', equals + 2);
    while (end > 0 && odd(text, end)) end = text.indexOf('"', end + 1);
    if (end < 0) break;
    let value = text.slice(equals + 2, end);
    if (value.includes("\\")) value = value.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
    all[text.slice(at, equals)] = value;
    at = end + 2; // the quote and the comma
  }
  return all;
}

/** odd tells whether the quote at a place is escaped: an odd number of backslashes stands before it. */
function odd(text, at) {
  let n = 0;
  while (text[at - 1 - n] === "\\") n++;
  return n % 2 === 1;
}

/**
 * quantile is the bound below which a share q of the requests between two readings of the buckets lies, by linear
 * interpolation inside a bucket as Prometheus does it; NaN without requests.
 */
export function quantile(q, before, after) {
  const grown = after.map(([bound, n], i) => [bound, n - (before[i]?.[1] ?? 0)]);
  const total = grown.at(-1)?.[1] ?? 0;
  if (!(total > 0)) return NaN;
  const rank = q * total;
  let [low, below] = [0, 0];
  for (const [bound, n] of grown) {
    if (n >= rank) return bound === Infinity ? Infinity : low + (bound - low) * ((rank - below) / Math.max(1, n - below));
    [low, below] = [bound, n];
  }
  return NaN;
}

/** WINDOW is over how many readings response times are taken. */
const WINDOW = 10;

/** Times are the response times of the last readings of a histogram. */
export class Times {
  median = NaN;
  tail = NaN;
  #read = [];

  /** read takes the buckets as they are now. */
  read(buckets) {
    // A histogram that has shrunk began anew with the daemon.
    if (buckets.at(-1)?.[1] < this.#read.at(-1)?.at(-1)?.[1]) this.#read = [];
    this.#read.push(buckets);
    if (this.#read.length > WINDOW + 1) this.#read.shift();
    this.median = quantile(0.5, this.#read[0], buckets);
    this.tail = quantile(0.99, this.#read[0], buckets);
  }
}

/** merge adds buckets to those of a sum. All histograms of a daemon have the same bounds. */
export function merge(sum, buckets) {
  for (const [i, [bound, n]] of buckets.entries()) {
    sum[i] ??= [bound, 0];
    sum[i][1] += n;
  }
}
