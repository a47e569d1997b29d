/** What a control call sends or answers: JSON by the names of the control API. */
export type Members = Record<string, any>;

/** Any error of this module. */
export class UnderstudyError extends Error {}

/** No server was started: there is no program, or it ended with a complaint. */
export class StartFailed extends UnderstudyError {}

/** No server answered, or what answered is not Understudy. */
export class Unreachable extends UnderstudyError {}

/** The server refused a control call; `message` is its own and says what would be right. */
export class Refusal extends UnderstudyError {
  readonly call: string;
  readonly status: number;
  readonly code: string;
}

/** The journal does not hold the calls that a test expects; the message lists the nearest and what each missed. */
export class UnmetExpectation extends UnderstudyError {}

/** A text such as "31m" or "250ms", or the sum of the named parts. */
export type Duration =
  | string
  | { days?: number; hours?: number; minutes?: number; seconds?: number; milliseconds?: number };

/** A Date, Unix seconds, or an RFC 3339 text. */
export type Moment = Date | number | string;

export interface StartOptions {
  /** Options of `understudy serve`, such as `["--fixtures", "Fixtures"]`. */
  options?: string[];
  /**
   * The program; by default the environment's UNDERSTUDY_BINARY, else that of the package understudy-server in the
   * `node_modules` of this module or of the working folder, else `understudy` in PATH.
   */
  binary?: string;
  /** Variables to set for the program besides those of this process. */
  environment?: Record<string, string>;
  /** Milliseconds that the start may take. */
  timeout?: number;
}

export interface AttachOptions {
  /** For servers with a `--control-port`. */
  controlURL?: string;
  /** The token of `--control-token`; in Node by default the environment's UNDERSTUDY_CONTROL_TOKEN, and `@FILE` is the one in a file. */
  token?: string;
}

/** A server that this process started, or one that it is attached to. */
export class Understudy {
  private constructor();
  /** Where the vendors are. */
  readonly url: string;
  /** A page for people: the journal as it grows, sandboxes, clocks, tokens and everything else. */
  get pageURL(): string;
  /** The ports of a server that was started here, by `http`, `https` and `control`. */
  get ports(): Record<string, number>;
  /** Whether this process started it. */
  get isOwn(): boolean;

  /** Starts a server for this process at a free loopback port; only in Node. */
  static start(options?: StartOptions): Promise<Understudy>;
  /** Attaches to a running server, and checks its health. */
  static attach(url: string, options?: AttachOptions): Promise<Understudy>;

  /** The sandbox of that name, or a new one; it is created on first use. */
  sandbox(name?: string): Sandbox;
  /** A new sandbox whose name begins with these words, such as a test's name. */
  sandboxFor(words: string): Sandbox;
  /**
   * Runs a test in a sandbox of its own, which is removed at its end.
   *
   * When the test fails, `report` receives its journal in words; by default they go to the console.
   */
  withSandbox<Result>(
    body: (sandbox: Sandbox) => Result | Promise<Result>,
    options?: { name?: string; report?: (text: string) => void },
  ): Promise<Result>;
  /** Makes a call of the control API to the sandbox that requests without a name share, as `Sandbox.control` does. */
  control(method: string, path: string, content?: unknown): Promise<any>;
  sandboxes(): Promise<Members[]>;
  health(): Promise<Members>;
  /** Ends a server that was started here, and returns its exit code; one that was attached to runs on. */
  stop(): Promise<number | null | undefined>;
}

/** How many calls are expected; by default at least one. */
export interface CallCount {
  atLeast?: number;
  atMost?: number;
  exactly?: number;
  /** Exactly that many that were accepted with a field that nobody reads; 0 finds misspelled names. */
  unread?: number;
  /** How long to wait for the calls, at most a minute. */
  within?: Duration;
}

/** What calls must be like; `where` of `journal/verify` has further members. */
export interface CallCondition {
  vendor?: string;
  route?: string;
  /** A code, or a class such as "2xx". */
  status?: number | string;
  failure?: string;
  method?: unknown;
  path?: unknown;
  query?: Members;
  header?: Members;
  form?: Members;
  body?: Members;
  claims?: Members;
  reason?: unknown;
  [member: string]: unknown;
}

/** The same of a call that follows another: whether it carries that one's token. */
export interface RelatedCondition extends CallCondition {
  token?: "same" | "other";
}

/** A call of a sequence; only the first has no `token`, `within` and `between`. */
export interface SequenceStep extends RelatedCondition {
  /** At most so long after the call before it, by the sandbox's clock. */
  within?: string;
  between?: { at_most: number; where: RelatedCondition };
}

/**
 * A test's own environment in a server: users, clock, settings, scenarios, faults, journal.
 *
 * Give the app `baseURL`; where it takes only a host, have it send `headers`.
 */
export class Sandbox {
  private constructor();
  readonly name: string;
  /** The base URL for the app under test, such as `http://127.0.0.1:49213/~signup`; append the path. */
  readonly baseURL: string;
  /** The header that selects the sandbox where the path cannot. */
  readonly headers: Record<string, string>;
  readonly clock: Clock;
  readonly journal: Journal;

  /**
   * Makes any call of the control API to this sandbox, for what has no name here: `control("POST", "keys/ims/rotating/replace")`.
   *
   * Returns the answer's content; the 409 of `journal/verify` is no refusal.
   */
  control(method: string, path: string, content?: unknown): Promise<any>;
  /** Mints a token: `mint("rezolve/login", { expires_in: 900 })`, `mint("ims/user", { defect: "expired" })`. */
  mint(kind: string, order?: Members): Promise<string>;
  /** What each vendor, or that one, would answer to a request with the token, and why. */
  explain(token: string, about?: { vendor?: string; request?: Members }): Promise<Members[]>;
  /** Has all vendors, or one, behave as documented or as observed. */
  setProfile(profile: "documented" | "observed", vendor?: string): Promise<void>;
  /** Sets one difference in behaviour, such as `rezolve.device-check` to `off`; `null` leaves it to the profile. */
  setSwitch(name: string, value: string | number | null): Promise<void>;
  /** Makes ids and times repeatable; `null` ends that. */
  setSeed(seed: number | null): Promise<void>;
  /** Replaces the active scenarios; the first has precedence. Without any, all are ended. */
  activate(...scenarios: string[]): Promise<void>;
  /**
   * Replaces the armed faults. Without any, all are disarmed.
   *
   * `arm({ route: "addressbook.list", call: 3, fail: "token-expired" })` hits the third call once,
   * `arm({ vendor: "rezolve", every: 2, fault: { delay: "2s" } })` every second one.
   */
  arm(...faults: Members[]): Promise<void>;
  /** Has something happen behind the app's back: `act("rezolve/remove-customer", { entity: "entity123" })`. */
  act(action: string, members?: Members): Promise<Members>;
  /** What the vendor remembers here: users and what belongs to them, without secrets. */
  state(vendor: string): Promise<Members>;
  /** Replaces what the vendor remembers here. */
  setState(vendor: string, state: Members): Promise<Members>;
  /** Restores the sandbox's initial state. */
  reset(): Promise<void>;
  /** Removes the sandbox with all it holds. */
  delete(): Promise<void>;
  /** Expects calls, or throws an `UnmetExpectation`; returns their numbers in the journal. */
  expectCalls(where?: CallCondition, count?: CallCount): Promise<number[]>;
  /**
   * Expects calls in this order, or throws an `UnmetExpectation` that says which step is missing. From the second on, a
   * step may say how long after the one before it comes, what may lie between, and whether it carries the same token.
   */
  expectSequence(
    steps: SequenceStep[], options?: { noneAfter?: RelatedCondition; within?: Duration }): Promise<number[]>;
}

/** What a clock shows: the moment by RFC 3339 and in Unix seconds, and whether it is frozen or the machine's. */
export interface ClockReading {
  now: string;
  unix: number;
  frozen: boolean;
  machine_time: boolean;
}

/**
 * The time that a sandbox goes by: lifetimes of tokens, minting and the journal read it.
 *
 * Every change returns what the clock shows after it.
 */
export class Clock {
  private constructor();
  read(): Promise<ClockReading>;
  /** The moment that it shows. */
  now(): Promise<Date>;
  /** Moves the clock: `advance({ minutes: 31 })`, `advance("31m")`; tokens issued earlier age by as much. */
  advance(by: Duration): Promise<ClockReading>;
  /** Sets the clock, which runs on from there. */
  set(now: Moment): Promise<ClockReading>;
  /** Freezes the clock, at that moment or where it stands. */
  freeze(at?: Moment): Promise<ClockReading>;
  /** Lets a frozen clock run on from where it stands. */
  resume(): Promise<ClockReading>;
  /** Returns to the machine's time. */
  useMachineTime(): Promise<ClockReading>;
}

/** Which entries of a journal; all parts must hold. */
export interface JournalFilter {
  vendor?: string;
  /** A route's id, or a pattern such as `addressbook.*`. */
  route?: string;
  /** A status code, or a class such as `4xx`. */
  status?: number | string;
  failure?: string;
  since?: Moment;
  after?: number;
  unmatched?: boolean;
  refused?: boolean;
  last?: number;
}

/** A call in the journal, and why it came out as it did; further members are those of the control API. */
export interface JournalEntry {
  id: number;
  at: string;
  /** `null` when nobody owns the path. */
  vendor: string | null;
  /** `null` when there is none at the path. */
  route: string | null;
  status: number;
  /** The failure's name; `null` when the call succeeded. */
  failure: string | null;
  /** What led to the failure, in one line. */
  reason: string | null;
  /** Every check, in the vendor's order. */
  findings: { check: string; outcome: string; expected?: any; found?: any; note?: string; source?: string }[];
  request: { method: string; target: string; headers: [string, string][]; body: any };
  response: Members;
  /** The remark on an accepted call, in one line. */
  note?: string;
  intervention?: any;
  nearest_routes?: string[];
}

/** The calls of a sandbox, oldest first; control calls are not among them. */
export class Journal {
  private constructor();
  entries(filter?: JournalFilter): Promise<JournalEntry[]>;
  /** Waits until that many such entries exist, a minute at most; returns those that exist then. */
  waitFor(order: { count?: number; within: Duration } & JournalFilter): Promise<JournalEntry[]>;
  /** The newest such entry; an error when there is none. */
  last(filter?: JournalFilter): Promise<JournalEntry>;
  entry(id: number): Promise<JournalEntry>;
  refusals(): Promise<JournalEntry[]>;
  clear(): Promise<void>;
  /** The newest calls in words, each refusal with the rules that it broke and the reason. */
  describe(last?: number): Promise<string>;
}

/** An entry of a journal in words: the call, its status, the rules that it broke, and the reason. */
export function describe(entry: JournalEntry): string;
