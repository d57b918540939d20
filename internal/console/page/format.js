// Numbers, durations and times as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** count is a whole number: 1,234. */
export const count = (n) => whole.format(n);

/** rate is a number a second, with as many digits as it deserves; NaN is not known. */
export function rate(n) {
  if (Number.isNaN(n) || n === undefined) return "–";
  if (n === 0) return "0";
  if (n < 0.05) return "<0.1";
  return n < 9.95 ? n.toFixed(1) : whole.format(n);
}

/** plural is a number with its noun. */
export const plural = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

/** seconds is a time span in seconds as a countdown shows it: 7.2 s, 42 s, 3 min 05 s, 1 h 02 min. */
export function seconds(s) {
  s = Math.max(0, s);
  if (s < 9.95) return s.toFixed(1) + " s";
  if (s < 60) return Math.round(s) + " s";
  const two = (n) => String(n).padStart(2, "0");
  if (s < 3600) return `${Math.floor(s / 60)} min ${two(Math.floor(s % 60))} s`;
  return `${Math.floor(s / 3600)} h ${two(Math.floor((s % 3600) / 60))} min`;
}

/** age is how long something has lasted, to the nearest unit that matters. */
export function age(s) {
  if (s < 90) return plural(Math.max(0, Math.round(s)), "second");
  if (s < 5400) return plural(Math.round(s / 60), "minute");
  if (s < 129600) return plural(Math.round(s / 3600), "hour");
  return plural(Math.round(s / 86400), "day");
}

/** latency is a number of seconds that a request takes. */
export function latency(s) {
  if (Number.isNaN(s) || s === undefined) return "–";
  if (s === Infinity) return ">60 s";
  const ms = s * 1000;
  if (ms < 10) return ms.toFixed(1) + " ms";
  return ms < 1000 ? Math.round(ms) + " ms" : s.toFixed(1) + " s";
}

/** clockTime is the time of day of a Date in the browser's zone, with the date where that is not today's. */
export function clockTime(date, now = new Date()) {
  const time = date.toLocaleTimeString("en-GB");
  if (date.toDateString() === now.toDateString()) return time;
  return date.toLocaleDateString("en-GB", { day: "2-digit", month: "short" }) + " " + time;
}

/** millis is the time of day with milliseconds, for evidence: what came first matters there. */
export const millis = (date) => date.toLocaleTimeString("en-GB") + "." + String(date.getMilliseconds()).padStart(3, "0");

/** parseDuration is a duration of the API ("10s", "1m30s", "500ms") in seconds. */
export function parseDuration(text) {
  const units = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86400 };
  let total = 0;
  for (const [, n, unit] of String(text).matchAll(/([\d.]+)(ms|s|m|h|d)/g)) total += Number(n) * units[unit];
  return total;
}

/** health says when a member is ejected. */
export function health(h) {
  return h.failures === 0 ? "never ejects" : `${plural(h.failures, "failure")} eject for ${h.cooldown}`;
}
