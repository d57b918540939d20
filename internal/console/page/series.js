// Values over time.

/** LENGTH is how many values are kept; SPAN is the time in seconds that plots show. */
export const LENGTH = 180;
export const SPAN = 120;

/**
 * Timeline is when the values of all series were taken, in milliseconds of performance.now(): no clock that is set or
 * corrected meanwhile makes a rate of it. A step is one reading; what a series has not got a value for is NaN.
 */
export class Timeline {
  step = -1;
  #times = new Float64Array(LENGTH).fill(NaN);

  /** advance begins a new step. */
  advance(time) {
    this.step++;
    this.#times[this.step % LENGTH] = time;
  }

  /** steps are the steps whose values are held, the oldest first. */
  *steps() {
    for (let i = Math.max(0, this.step - LENGTH + 1); i <= this.step; i++) yield i;
  }

  time(step) {
    return this.#times[step % LENGTH];
  }
}

/** Series is the values of one thing. */
export class Series {
  #values = new Float32Array(LENGTH).fill(NaN);
  #last = -1;

  /** set takes the value of a step. Steps that were left out have none. */
  set(step, value) {
    for (let i = Math.max(this.#last + 1, step - LENGTH + 1); i < step; i++) this.#values[i % LENGTH] = NaN;
    this.#values[step % LENGTH] = value;
    this.#last = step;
  }

  at(step) {
    return step > this.#last || step <= this.#last - LENGTH ? NaN : this.#values[step % LENGTH];
  }

  /** latest is the value of the last step that had one. */
  latest() {
    return this.#last < 0 ? NaN : this.at(this.#last);
  }
}

/**
 * Rate makes a rate of a count that only grows. A count that has shrunk began anew, with the daemon or with the member:
 * what it has now came since then.
 */
export class Rate {
  series = new Series();
  #count = NaN;
  #time = NaN;

  /** read takes the count at a time in milliseconds. */
  read(step, time, count) {
    const grown = count < this.#count ? count : count - this.#count;
    const value = (grown * 1000) / (time - this.#time);
    // The first reading of all tells nothing.
    this.series.set(step, Number.isFinite(value) ? value : NaN);
    [this.#count, this.#time] = [count, time];
  }

  now() {
    return this.series.latest();
  }
}
