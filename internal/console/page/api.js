// Talking to the admin API: GETs, and the stream of events. Nothing else is ever sent.

// The page is at .../console/, the API beside it.
const root = new URL("../", document.baseURI);

/** Refused is an answer that is no success, with what the problem document says (RFC 9457). */
export class Refused extends Error {
  constructor(status, detail, code) {
    super(detail);
    Object.assign(this, { status, code });
  }
}

/** TIMEOUT is how long an answer may take, in milliseconds. */
const TIMEOUT = 10_000;
/** SILENCE is how long the stream may be silent: more than two of the daemon's heartbeats, which come every 15 s. */
const SILENCE = 40_000;

/**
 * Api makes the calls. Behind scalwsctl each one carries the token of the URL that was printed; it is sent in a field,
 * so that it is in no history and no log, and no other site can have the browser add it.
 */
export class Api {
  #token;
  #clock;

  constructor(token, clock) {
    this.#token = token;
    this.#clock = clock;
  }

  async json(path) {
    return (await this.#get(path, "application/json", AbortSignal.timeout(TIMEOUT))).json();
  }

  async text(path) {
    return (await this.#get(path, "text/plain", AbortSignal.timeout(TIMEOUT))).text();
  }

  async #get(path, accept, signal, fields = {}) {
    const headers = { Accept: accept, ...fields };
    if (this.#token) headers.Authorization = "Bearer " + this.#token;
    const sent = Date.now();
    const answer = await fetch(new URL(path, root), { headers, signal, cache: "no-store", redirect: "error" });
    this.#clock.learn(answer.headers.get("Date"), sent, Date.now());
    if (answer.ok) return answer;
    let problem = {};
    const media = answer.headers.get("Content-Type") ?? "";
    if (media.includes("json")) problem = await answer.json().catch(() => ({}));
    throw new Refused(answer.status, problem.detail ?? `the answer was ${answer.status}`, problem.code);
  }

  /**
   * follow calls seen with each event, from the oldest that the daemon knows, for as long as the page lives. alive is
   * called with true when a stream stands and false when it ends. It does not use EventSource, which can send no token,
   * gives up for good at the first answer that is no stream, and tells nobody that heartbeats have stopped. Like
   * EventSource it goes on behind the last event by Last-Event-ID.
   */
  async follow(seen, alive) {
    let last = "";
    for (let pause = 500; ; pause = Math.min(2 * pause, 5000)) {
      const abort = new AbortController();
      let watch;
      const hear = () => {
        clearTimeout(watch);
        watch = setTimeout(() => abort.abort(), SILENCE);
      };
      try {
        hear();
        const answer = await this.#get("v1/events", "text/event-stream", abort.signal, last && { "Last-Event-ID": last });
        alive(true);
        pause = 500;
        for await (const { id, data } of messages(answer.body, hear)) {
          last = id;
          if (data) seen(JSON.parse(data));
        }
        alive(false, "the stream ended");
      } catch (error) {
        alive(false, error.message);
      }
      clearTimeout(watch);
      // Half of the pause is by chance, so that all pages that watch a daemon do not come back at one instant.
      await new Promise((wake) => setTimeout(wake, pause / 2 + (Math.random() * pause) / 2));
    }
  }
}

/**
 * messages reads server-sent events
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation). The daemon ends lines
 * with a line feed. The id of a message without data, a sign of life, counts too. hear is called for every piece.
 */
async function* messages(body, hear) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let [id, data] = ["", []];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return; // a message that the end cuts off is none
    hear();
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line === "") {
        yield { id, data: data.join("\n") };
        data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const text = line.slice(colon + 1).replace(/^ /, "");
      if (line.startsWith("id:")) id = text;
      if (line.startsWith("data:")) data.push(text);
    }
  }
}
