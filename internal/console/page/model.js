// What the page knows of the daemon. It reads answers of the API and has never heard of elements.

import { merge, parseMetrics, Times } from "./metrics.js";
import { Rate, Timeline } from "./series.js";

/** STATES are the states of a member, the worst first. */
export const STATES = ["ejected", "probation", "up"];

/** EVENTS is how many events are kept: as many as the daemon keeps. */
const EVENTS = 4096;

/** Pool is a pool with its members as they were last, and with its rates. */
class Pool {
  requests = new Rate();
  failures = new Rate();
  retries = new Rate();
  members = [];
  counts = { up: 0, ejected: 0, probation: 0 };
  inFlight = 0;
  times = new Times();
  #byAddress = new Map();

  get size() {
    return this.members.length;
  }

  constructor(name) {
    this.name = name;
  }

  /** take takes the pool of an answer. Members that stay keep their rates. */
  take(upstream) {
    this.upstream = upstream;
    const byAddress = new Map();
    this.counts = { up: 0, ejected: 0, probation: 0 };
    this.inFlight = 0;
    this.members = upstream.members.map((m, index) => {
      const member = this.#byAddress.get(m.address) ?? {
        pool: this, address: m.address, id: this.name + "\n" + m.address, requests: new Rate(), failures: new Rate(),
      };
      Object.assign(member, {
        index, weight: m.weight, state: m.state, inFlight: m.in_flight, failed: m.consecutive_failures,
        until: m.ejected_until ? Date.parse(m.ejected_until) : NaN, lastFailure: m.last_failure ?? "",
      });
      this.counts[m.state]++;
      this.inFlight += m.in_flight;
      byAddress.set(m.address, member);
      return member;
    });
    this.#byAddress = byAddress;
  }

  /** measure takes what the metrics say of the pool. */
  measure(step, time, read) {
    this.requests.read(step, time, read.requests);
    this.retries.read(step, time, read.retries);
    this.failures.read(step, time, read.attempts ? read.attempts.failed : this.size > 0 ? NaN : 0);
    for (const m of this.members) {
      const c = read.members.get(m.address);
      m.requests.read(step, time, c ? c.total : NaN);
      m.failures.read(step, time, c ? c.failed : NaN);
    }
    this.times.read(read.buckets);
  }
}

/** Model is everything. Seen as a pool it is all pools together: it has the same rates, times and counts. */
export class Model {
  pools = [];
  status = null;
  timeline = new Timeline();
  requests = new Rate();
  failures = new Rate();
  retries = new Rate();
  times = new Times();
  counts = { up: 0, ejected: 0, probation: 0 };
  inFlight = 0;
  size = 0;
  /** events, the oldest first; version grows with each. */
  events = [];
  version = 0;
  #byName = new Map();

  pool(name) {
    return this.#byName.get(name);
  }

  /** takeUpstreams takes GET /v1/upstreams. */
  takeUpstreams(answer) {
    const byName = new Map();
    this.pools = answer.upstreams.map((u) => {
      const pool = this.#byName.get(u.name) ?? new Pool(u.name);
      pool.take(u);
      byName.set(u.name, pool);
      return pool;
    });
    this.#byName = byName;
    this.counts = { up: 0, ejected: 0, probation: 0 };
    [this.inFlight, this.size] = [0, 0];
    for (const p of this.pools) {
      for (const s of STATES) this.counts[s] += p.counts[s];
      this.inFlight += p.inFlight;
      this.size += p.size;
    }
  }

  /** takeMetrics takes GET /metrics, read at a time of performance.now(). */
  takeMetrics(text, time) {
    const read = parseMetrics(text);
    this.timeline.advance(time);
    const sum = { requests: 0, failed: 0, retries: 0, buckets: [] };
    for (const pool of this.pools) {
      const p = read.get(pool.name);
      if (!p) continue;
      pool.measure(this.timeline.step, time, p);
      sum.requests += p.requests;
      sum.retries += p.retries;
      merge(sum.buckets, p.buckets);
      // A pool without members has no attempts either way.
      sum.failed += p.attempts ? p.attempts.failed : pool.size > 0 ? NaN : 0;
    }
    this.requests.read(this.timeline.step, time, sum.requests);
    this.retries.read(this.timeline.step, time, sum.retries);
    this.failures.read(this.timeline.step, time, sum.failed);
    this.times.read(sum.buckets);
  }

  /** takeStatus takes GET /v1/status. */
  takeStatus(status) {
    this.status = status;
  }

  /** takeEvent takes an event of the stream. */
  takeEvent(event) {
    this.events.push({ ...event, arrived: performance.now() });
    if (this.events.length > EVENTS) this.events.splice(0, this.events.length - EVENTS);
    this.version++;
  }
}
