// The daemon's clock. Ejections end by it, and the browser's may be off by minutes.

/**
 * Clock learns from the Date field of answers (RFC 9110 section 6.6.1), which is cut off to whole seconds: the true
 * time lay in that second, at some moment between the sending of the request and the coming of the answer. Each
 * answer so gives two bounds for the difference of the clocks. A second or two of polling narrow it down to some
 * milliseconds, since the answers fall on different parts of the daemon's second.
 */
export class Clock {
  #low = -Infinity;
  #high = Infinity;

  /** learn takes a Date field, and when by the browser's clock its request went out and its answer came in. */
  learn(field, sent, received) {
    const date = Date.parse(field ?? "");
    if (Number.isNaN(date)) return;
    const low = date - received;
    const high = date + 1000 - sent;
    // Bounds that do not meet mean that one of the clocks was set, or that they have drifted apart.
    if (low > this.#high || high < this.#low) [this.#low, this.#high] = [low, high];
    else [this.#low, this.#high] = [Math.max(low, this.#low), Math.min(high, this.#high)];
  }

  /** now is the daemon's time in milliseconds since 1970; the browser's as long as nothing was learnt. */
  now() {
    return Date.now() + (this.#high === Infinity ? 0 : (this.#low + this.#high) / 2);
  }
}
