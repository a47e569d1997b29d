// Written by Sources/Clients/generate from the server's OpenAPI document; edits here would be lost.

/** Why a call is refused. */
export interface Problem {
  /** The refusal. */
  error: ProblemError;
}

/** That the server is well, and what it stands in for. */
export interface Health {
  /** “ok”. */
  status: string;
  /** The release. */
  version: string;
  /** The vendors. */
  vendors: HealthVendor[];
  /** A short text that changes with any fixture file. */
  fixtures: string;
  /** The folders of fixtures that are in force, the topmost first. */
  layers: HealthLayer[];
  /** How reading the fixtures anew went. */
  reload: HealthReload;
  /** Where sandboxes are kept across restarts; absent without serve --state. */
  state?: HealthState;
  /** The replica's name, where several share a folder. */
  replica?: string;
  /** What of the state file could not be read, and is kept for the next export. */
  set_aside: HealthSetAside;
}

/** An OpenAPI document. */
export interface Description {
  /** The version of OpenAPI. */
  openapi: string;
  /** Title and release. */
  info: Record<string, unknown>;
  /** Where the paths begin. */
  servers: Record<string, unknown>[];
  /** What calls ask for. */
  security: Record<string, unknown>[];
  /** The calls. */
  paths: Record<string, unknown>;
  /** What the calls share. */
  components: Record<string, unknown>;
}

/** What is emulated. */
export interface Vendors {
  /** The vendors. */
  vendors: Vendor[];
  /** The port at which the vendors are; null when it is this one. */
  port: number | null;
}

/** A call that works. */
export interface Sample {
  /** The call; null where the fixtures leave nothing to sign with. */
  sample: SampleSample | null;
}

/** What a sandbox's clock shows. */
export interface Clock {
  /** The moment by RFC 3339, in UTC with milliseconds. */
  now: string;
  /** The moment in Unix seconds. */
  unix: number;
  /** Whether the clock stands still. */
  frozen: boolean;
  /** Whether it shows the machine's time. */
  machine_time: boolean;
  /** There when the clock ran to the end of the year 9999 and stopped. */
  note?: string;
}

/** What becomes of the clock: it is frozen first, then set, then moved, then released. */
export interface ClockChange {
  /** The moment to show; null for the machine's time. */
  now?: Moment | number | null;
  advance?: Duration;
  /** Whether the clock shall stand still. */
  freeze?: boolean;
}

/** One check of a token or a request, and how it came out. */
export interface Finding {
  /** The check's stable name. */
  check: string;
  /** How it came out. */
  outcome: "passed" | "failed" | "noted" | "not-judged";
  /** What the rule asks for. */
  expected?: unknown;
  /** What is there; null when nothing is. */
  found?: unknown;
  /** Why it matters, or what to do. */
  note?: string;
  /** Which document says so. */
  source?: string;
}

/** A request as the journal shows it. */
export interface RecordedRequest {
  /** The method. */
  method: string;
  /** Path and query as they were sent, tokens masked, without the sandbox's prefix. */
  target: string;
  /** The field lines in order, each a name and a value; credentials are masked. */
  headers: string[][];
  /** JSON as JSON, text as a string, other bytes as their number; null when empty. Secrets are masked. */
  body: unknown;
}

/** A message of a WebSocket as the journal shows it. */
export interface RecordedFrame {
  /** Who sent it. */
  from: "client" | "server";
  /** The moment by the sandbox's clock, by RFC 3339. */
  at: string;
  /** JSON as JSON, text as a string; the number of bytes of others and of long ones. Secrets are masked. */
  message: unknown;
  /** What the vendor remarked on it. */
  findings: Finding[];
  /** The number of the entry whose call the server sent it for; null for greetings, echoes, actions and deadlines. */
  cause: number | null;
}

/** What passed through the WebSocket that an exchange opened. */
export interface RecordedSocket {
  /** How many messages the client sent. */
  received: number;
  /** How many messages the server sent. */
  sent: number;
  /** How it ended; null while it has not. */
  closed: RecordedSocketClosed | null;
  /** What the vendor remarked on its opening and its end. */
  findings: Finding[];
  /** The newest messages in order, as many as there is room for. */
  frames: RecordedFrame[];
}

/** One exchange, and why it came out as it did. */
export interface JournalEntry {
  /** The entry's number in its sandbox. */
  id: number;
  /** The sandbox. */
  sandbox: string;
  /** The moment by the sandbox's clock, by RFC 3339. */
  at: string;
  /** The vendor's id; null when nobody owns the path. */
  vendor: string | null;
  /** The route's id; null when there is none at the path. */
  route: string | null;
  /** The status code. */
  status: number;
  /** The failure's name; null when the call succeeded. */
  failure: string | null;
  /** What led to the failure, in one line. */
  reason: string | null;
  /** What the accepted call was remarked on, in one line. */
  note?: string;
  /** What influenced the answer. */
  intervention?: string | (string | Record<string, unknown>)[];
  /** Says of an entry that the server itself sent the request. */
  kind?: "outgoing";
  /** The address that the server asked, tokens masked. */
  url?: string;
  /** The routes that come closest to a request that found none, such as “VENDOR ROUTE: GET /path”. */
  nearest_routes?: string[];
  /** Every check, in the vendor's order. */
  findings: Finding[];
  request: RecordedRequest;
  /** The response. */
  response: JournalEntryResponse;
  /** The orders of the request that were refused each by itself. */
  parts?: JournalEntryParts;
  socket?: RecordedSocket;
  /** The replica that answered, where several share a folder. */
  replica?: string;
}

/** Entries of a sandbox's journal. */
export interface Journal {
  /** The sandbox. */
  sandbox: string;
  /** The replica that answered, where several share a folder. */
  replica?: string;
  /** The entries, the oldest first. */
  entries: JournalEntry[];
}

/** What a list shows of an exchange; the members mean what they mean in the whole entry. */
export interface BriefEntry {
  /** The entry's number in its sandbox. */
  id: number;
  /** The moment by the sandbox's clock, by RFC 3339. */
  at: string;
  /** The vendor's id. */
  vendor: string | null;
  /** The route's id. */
  route: string | null;
  /** The status code. */
  status: number;
  /** The failure's name. */
  failure: string | null;
  /** What led to the failure, in one line. */
  reason: string | null;
  /** The method. */
  method: string;
  /** Path and query, tokens masked, without the sandbox's prefix. */
  target: string;
  /** What the accepted call was remarked on, in one line. */
  note?: string;
  /** What influenced the answer. */
  intervention?: string | (string | Record<string, unknown>)[];
  /** Says of an entry that the server itself sent the request. */
  kind?: "outgoing";
  /** The routes that come closest to a request that found none, such as “VENDOR ROUTE: GET /path”. */
  nearest_routes?: string[];
}

/** Entries of a sandbox's journal, in brief. */
export interface BriefJournal {
  /** The sandbox. */
  sandbox: string;
  /** The replica that answered, where several share a folder. */
  replica?: string;
  /** The number of the newest entry, whatever the filter; 0 without any. */
  newest: number;
  /** The entries, the oldest first. */
  entries: BriefEntry[];
}

/** Exchanges as HTTP Archive 1.2. */
export interface HTTPArchive {
  /** Its version, who made it, and the exchanges. */
  log: Record<string, unknown>;
}

/** How a sandbox wants the vendors to behave. */
export interface Settings {
  profile: Profile;
  /** Profiles of single vendors, by id. */
  vendor_profiles: Record<string, Profile>;
  /** What makes ids repeatable; null when they are not. */
  seed: number | null;
  /** The values of all switches, by VENDOR.SWITCH. */
  switches: Record<string, string>;
}

/** What becomes of the settings; what is not named stays. */
export interface SettingsChange {
  /** The profile of all vendors, or those of single ones by id; null takes one back. */
  profile?: Profile | Record<string, Profile | null>;
  /** Values by VENDOR.SWITCH; null leaves a switch to the profile. */
  switches?: Record<string, string | number | null>;
  /** What makes ids repeatable; null makes them unpredictable. */
  seed?: number | null;
}

/** What an exchange must be like; all parts must hold. */
export interface ExchangeCondition {
  method?: ValueMatcher;
  path?: ValueMatcher;
  /** By parameter of the query. */
  query?: Record<string, ValueMatcher>;
  /** By name, in any case. */
  header?: Record<string, ValueMatcher>;
  /** By field of a form. */
  form?: Record<string, ValueMatcher>;
  /** By member of a JSON body, or JSONPath. */
  body?: Record<string, ValueMatcher>;
  /** By claim, or JSONPath. */
  claims?: Record<string, ValueMatcher>;
  token_age?: ValueMatcher;
  token_left?: ValueMatcher;
  reason?: ValueMatcher;
}

/** A range to draw from. */
export interface PauseRange {
  from: Pause;
  to: Pause;
}

/** The answer goes out in portions. */
export interface Drip {
  /** Bytes of a portion. */
  chunk: number;
  every: Pause;
}

/** A response in place of the vendor's; strings in it may be templates. */
export interface OwnResponse {
  /** The status code; 200. */
  status?: number;
  /** Field values by name. */
  headers?: Record<string, string>;
  /** A text, or JSON. */
  body?: unknown;
}

/** A fault as it was ordered, and what it has seen. */
export interface Fault {
  /** The vendor's id; the one that has the route. */
  vendor: string;
  /** A route's id, with * all that fit, or a list of such; without it every route of the vendor. */
  route?: string | string[];
  when?: ExchangeCondition;
  /** How often it strikes; once, or always where every or probability say which calls. */
  times?: number | "always";
  /** The call of that number from now on is hit. */
  call?: number;
  /** Every so manieth call is hit. */
  every?: number;
  /** Each call is hit with that probability. */
  probability?: number;
  /** What the probability is drawn from. */
  seed?: number;
  /** The name of the failure of the vendor that is answered. */
  fail?: string;
  /** What the failure's body is filled with. */
  parameters?: Record<string, unknown>;
  respond?: OwnResponse;
  /** An action of the vendor: its name, or one name with its members. */
  do?: string | Record<string, unknown>;
  fault?: WireFault;
  /** How many calls it was for. */
  calls: number;
  /** How often it struck. */
  strikes: number;
}

/**
 * A fault to arm. It names a route or a vendor, says what happens, and of call, every and probability at most one.
 */
export interface FaultOrder {
  /** The vendor's id; the one that has the route. */
  vendor?: string;
  /** A route's id, with * all that fit, or a list of such; without it every route of the vendor. */
  route?: string | string[];
  when?: ExchangeCondition;
  /** How often it strikes; once, or always where every or probability say which calls. */
  times?: number | "always";
  /** The call of that number from now on is hit. */
  call?: number;
  /** Every so manieth call is hit. */
  every?: number;
  /** Each call is hit with that probability. */
  probability?: number;
  /** What the probability is drawn from. */
  seed?: number;
  /** The name of the failure of the vendor that is answered. */
  fail?: string;
  /** What the failure's body is filled with. */
  parameters?: Record<string, unknown>;
  respond?: OwnResponse;
  /** An action of the vendor: its name, or one name with its members. */
  do?: string | Record<string, unknown>;
  fault?: WireFault;
}

/** The armed faults. */
export interface Faults {
  /** The armed faults. */
  faults: Fault[];
}

/** The scenarios there are, and those that are active. */
export interface Scenarios {
  /** The active ones, the first one first. */
  active: ScenariosActive[];
  /** All of them. */
  available: ScenariosAvailable[];
}

/** A scenario to activate. */
export interface ScenarioOrder {
  /** Its name. */
  scenario: string;
  /** The state to start in; the first one. */
  state?: string;
}

/** What can happen to the vendors' states. */
export interface Actions {
  /** The actions. */
  actions: Action[];
}

/** How many exchanges of some kind the journal shall hold. */
export interface Expectation {
  /** The fewest; 1 where nothing is said. */
  at_least?: number;
  /** The most. */
  at_most?: number;
  /** Neither more nor fewer, instead of the two others. */
  exactly?: number;
  /** What they must be like; all parts must hold. Further members are the names of notes that a vendor makes. */
  where?: ExpectationWhere;
}

/** The expectation holds. */
export interface Fulfilled {
  verified: true;
  /** How many there are. */
  count: number;
  /** Their numbers. */
  entries: number[];
}

/** The expectation does not hold. */
export interface Unfulfilled {
  verified: false;
  /** How many there are. */
  count: number;
  /** The bounds, such as “exactly 1”. */
  expected: string;
  /** What was expected and found, and the nearest exchange, in one line. */
  message: string;
  /** Those that miss fewest parts, or those that are too many; the latest first, five at most. */
  nearest: UnfulfilledNearest[];
}

/** The kinds of token that can be minted. */
export interface TokenKinds {
  /** The kinds. */
  kinds: TokenKindsKind[];
}

/** What the token shall be like; the kind says which members it knows besides these. */
export interface MintRequest {
  /** What shall be wrong with it; the kind lists the names. */
  defect?: string;
  /** Members of the header, set last. */
  header?: Record<string, unknown>;
  /** Claims, set last. */
  claims?: Record<string, unknown>;
  /** Further members that the server knows. */
  [member: string]: unknown;
}

/** A token. */
export interface MintedToken {
  /** The token. */
  token: string;
  /** The header that it holds. */
  header: Record<string, unknown>;
  /** The claims that it holds. */
  claims: Record<string, unknown>;
}

/** The token that is to be explained. */
export interface ExplainOrder {
  /** The token. */
  token: string;
  /** The only vendor to be asked, by id. */
  vendor?: string;
  /** What is known of the request that carries it; vendors name the members. */
  request?: Record<string, unknown>;
}

/** What the vendors would answer. */
export interface Verdicts {
  /** One for each vendor that was asked. */
  verdicts: Verdict[];
}

/** What the vendors' tokens are signed with. */
export interface Keys {
  /** The issuers that publish keys. */
  issuers: Issuer[];
  /** The keys that are published elsewhere, as this sandbox has them. */
  fetched: KeysFetched[];
  /** The secrets that are shared with those who sign; never themselves. */
  secrets: KeysSecret[];
}

/** An issuer with the keys that it publishes. */
export interface Issuer {
  /** The vendor's id. */
  vendor: string;
  /** The issuer's name. */
  issuer: string;
  /** What the keys sign with. */
  algorithm: string;
  /** Whether asking for the keys is answered by an error. */
  broken: boolean;
  /** How often the keys were asked for. */
  fetches: number;
  /** The published keys, the one that signs first. */
  keys: IssuerKey[];
}

/** A sandbox. */
export interface Sandbox {
  /** Its name. */
  name: string;
  /** When it came into being, by the machine's clock. */
  created_at: string;
  /** How long it has been there. */
  age_seconds: number;
  /** How long nobody has used it. */
  idle_seconds: number;
  /** How long it may lie unused; null: for as long as there is room. */
  ttl_seconds: number | null;
  /** When it goes, if nobody uses it until then; null: while a socket is open, never. */
  expires_in_seconds: number | null;
  /** Whether it shows the machine's time, runs beside it, or stands still. */
  clock: "machine" | "moved" | "frozen";
  /** What its clock shows. */
  now: string;
  /** The seed of ids and times. */
  seed: number | null;
  /** How many exchanges it has seen. */
  exchanges: number;
  /** How many WebSockets are open. */
  sockets: number;
  /** How many entries its journal keeps. */
  journal_entries: number;
  /** An estimate of the memory they take. */
  journal_bytes: number;
  /** The replica that has it, where several share a folder. */
  replica?: string;
}

/** The sandboxes. */
export interface Sandboxes {
  /** The standard one first, then the others by name. */
  sandboxes: Sandbox[];
  /** The replica that answers, where several share a folder. */
  replica?: string;
  /** The replicas that were asked, this one first. */
  replicas?: SandboxesReplica[];
}

/** That the process runs. */
export interface Liveness {
  /** “ok”. */
  status: string;
}

/** Whether the server takes requests. */
export interface Readiness {
  /** Whether it does. */
  ready: boolean;
  /** The replica's name; null for a server alone. */
  replica: string | null;
  /** Why it does not; null when it does. */
  reason: string | null;
}

/** The refusal. */
export interface ProblemError {
  /** A stable name. */
  code: string;
  /** What was found and what would be right. */
  message: string;
}

/** A vendor. */
export interface HealthVendor {
  /** The name that files, flags and calls use. */
  id: string;
  /** The name for people. */
  title: string;
  /** How many routes it has. */
  routes: number;
  /** How many failures it has. */
  failures: number;
}

/** A folder of fixtures. */
export interface HealthLayer {
  /** The folder, from the root of the file system. */
  folder: string;
  /** Files that look like fixtures and are read by nobody, each with a hint. */
  unread: string[];
}

/** How reading the fixtures anew went. */
export interface HealthReload {
  /** Whether changed files are taken over while it runs. */
  watching: boolean;
  /** How often fixtures were replaced. */
  count: number;
  /** When that was last, by the machine's clock. */
  at: string | null;
  /** Why the files as they stand are not in force; null when they are. */
  problem: string | null;
}

/** Where sandboxes are kept across restarts; absent without serve --state. */
export interface HealthState {
  /** The folder. */
  folder: string;
  /** Why sandboxes are not written there now; null when all are. */
  problem: string | null;
}

/** A part. */
export interface HealthSetAsidePart {
  /** The sandbox, if its name could be read. */
  sandbox: string | null;
  /** The vendor; null for the whole sandbox. */
  vendor: string | null;
  /** Where in the vendor's state; empty for all of it. */
  record: string;
  /** What was found, and what would be right. */
  problem: string;
}

/** What of the state file could not be read, and is kept for the next export. */
export interface HealthSetAside {
  /** How many parts. */
  count: number;
  /** The first of them. */
  parts: HealthSetAsidePart[];
}

/** A method and path. */
export interface VendorRoute {
  /** The route's id, which several may share. */
  route: string;
  /** The method. */
  method: string;
  /** The path, parameters in braces. */
  path: string;
  /** Where it is known from: documented by the vendor, observed in its clients, inferred from those, or ours. */
  evidence: "documented" | "observed" | "inferred" | "ours";
  /** The source in words. */
  source: string;
}

/** A failure. */
export interface VendorFailure {
  /** Its name. */
  failure: string;
  /** The status code. */
  status: number;
  /** When it is answered. */
  about: string;
  /** Where it is known from: documented by the vendor, observed in its clients, inferred from those, or ours. */
  evidence: "documented" | "observed" | "inferred" | "ours";
  /** The source in words. */
  source: string;
  /** The vendor's other failures that look the same on the wire. */
  lookalikes: string[];
}

/** A switch. */
export interface VendorSwitch {
  /** Its name without the vendor. */
  name: string;
  /** What it decides. */
  about: string;
  /** Its value in profile documented. */
  documented: string;
  /** Its value in profile observed. */
  observed: string;
  /** What it can be set to, in words. */
  values: string;
  /** The words it can be set to, if only some can. */
  choices: string[] | null;
  /** The source in words. */
  source: string;
}

/** A fact. */
export interface VendorRequestFact {
  /** Its name. */
  name: string;
  /** What it is. */
  about: string;
}

/** A value. */
export interface VendorSample {
  /** What it is. */
  label: string;
  /** The value. */
  value: string;
}

/** A vendor. */
export interface Vendor {
  /** The name that files, flags and calls use. */
  id: string;
  /** The name for people. */
  title: string;
  /** Each method and path. */
  routes: VendorRoute[];
  /** How its calls can fail. */
  failures: VendorFailure[];
  /** Differences that can be chosen. */
  switches: VendorSwitch[];
  /** What explaining a token may want to know of its request. */
  request_facts: VendorRequestFact[];
  /** Ids and public keys of the sample accounts. */
  samples: VendorSample[];
}

/** The call; null where the fixtures leave nothing to sign with. */
export interface SampleSample {
  /** The method. */
  method: string;
  /** The path. */
  path: string;
  /** The fields, each a name and a value. */
  headers: string[][];
  /** The content; may be empty. */
  body: string;
}

/** How it ended; null while it has not. */
export interface RecordedSocketClosed {
  /** The close code of RFC 6455. */
  code: number;
  /** The reason. */
  reason: string;
  /** The moment by the sandbox's clock, by RFC 3339. */
  at: string;
}

/** The response. */
export interface JournalEntryResponse {
  /** The status code. */
  status: number;
  /** The field lines in order, each a name and a value; credentials are masked. */
  headers: string[][];
  /** JSON as JSON, text as a string, other bytes as their number; null when empty. Secrets are masked. */
  body: unknown;
}

/** An order that was refused while the request was answered. */
export interface JournalEntryPartsFirst {
  /** Which of the orders. */
  number: number;
  /** What it asks for, in the vendor's words. */
  name: string;
  /** The failure's name. */
  failure: string;
  /** What led to the failure, in one line. */
  reason: string | null;
  /** Every check that was made for it. */
  findings: Finding[];
}

/** The orders of the request that were refused each by itself. */
export interface JournalEntryParts {
  /** How many there were. */
  refused: number;
  /** The first hundred of them. */
  first: JournalEntryPartsFirst[];
}

/** At least one word. */
export interface ValueMatcherMembers {
  /** Equal to this. */
  is?: unknown;
  /** Anything but this, or nothing at all. */
  not?: unknown;
  /** A text with this in it, or a list with this among its elements. */
  contains?: string;
  /** A text of this form: * stands for any characters, ? for one. */
  like?: string;
  /** Whether it is there at all. */
  present?: boolean;
  /** A number, or the seconds of a duration. */
  over?: number | Duration;
  /** A number, or the seconds of a duration. */
  under?: number | Duration;
}

/** With more to say. */
export interface WireFaultMembers {
  /** How long the answer waits, at most 600s. */
  delay?: Pause | PauseRange;
  /** Whether the connection breaks. */
  reset?: boolean;
  /** Whether it closes without an answer. */
  empty?: boolean;
  /** Whether bytes that are no HTTP are answered. */
  garbage?: boolean;
  /** How many bytes of content still go out. */
  truncate?: number;
  drip?: Drip;
}

/** An active scenario. */
export interface ScenariosActive {
  /** Its name. */
  scenario: string;
  /** The vendor's id. */
  vendor: string;
  /** The state it is in. */
  state: string;
  /** How many calls each rule of the state has seen. */
  calls: number[];
}

/** A rule, in words. */
export interface ScenariosAvailableRule {
  /** The state it belongs to. */
  state: string;
  /** The ids of the routes that it is for. */
  routes: string[];
  /** Which of the calls there, such as “call 3”. */
  calls: string;
  /** What else is asked of the call; null for nothing. */
  when: string | null;
  /** What it does; empty when calls pass. */
  effect: string;
  /** The state that comes next; null to stay. */
  go: string | null;
}

/** A scenario. */
export interface ScenariosAvailable {
  /** Its name. */
  scenario: string;
  /** The vendor's id. */
  vendor: string;
  /** What it shows. */
  about: string;
  /** Its states, the first one first. */
  states: string[];
  /** The rules of its states, where they were asked for. */
  rules?: ScenariosAvailableRule[];
}

/** A member. */
export interface ActionMember {
  /** Its name. */
  name: string;
  /** What it means. */
  about: string;
  /** Whether it must be there. */
  required: boolean;
}

/** An action. */
export interface Action {
  /** The vendor's id. */
  vendor: string;
  /** Its name. */
  action: string;
  /** What it does. */
  about: string;
  /** What it has to be told. */
  members: ActionMember[];
}

/** What they must be like; all parts must hold. Further members are the names of notes that a vendor makes. */
export interface ExpectationWhere {
  /** The vendor's id. */
  vendor?: string;
  /** The route's id, or a pattern of ids with *. */
  route?: string;
  /** The status. */
  status?: number | string;
  /** Whether it has a failure. */
  refused?: boolean;
  /** The failure's name. */
  failure?: string;
  /** That moment or a later one, by the sandbox's clock. */
  since?: Moment | number;
  /** Behind the entry of that number. */
  after?: number;
  /** Whether it found no route. */
  unmatched?: boolean;
  /** Whether the server received it, which counts if nothing is said, or sent it for an action. */
  kind?: "incoming" | "outgoing";
  method?: ValueMatcher;
  path?: ValueMatcher;
  /** By parameter of the query. */
  query?: Record<string, ValueMatcher>;
  /** By name, in any case. */
  header?: Record<string, ValueMatcher>;
  /** By field of a form. */
  form?: Record<string, ValueMatcher>;
  /** By member of a JSON body, or JSONPath. */
  body?: Record<string, ValueMatcher>;
  /** By claim, or JSONPath. */
  claims?: Record<string, ValueMatcher>;
  token_age?: ValueMatcher;
  token_left?: ValueMatcher;
  reason?: ValueMatcher;
  /** Further members that the server knows. */
  [member: string]: unknown;
}

/** A part. */
export interface UnfulfilledNearestMissed {
  /** Which part, such as “body $.email”. */
  condition: string;
  /** What it demands. */
  expected: string;
  /** What is there, secrets masked; null when nothing is. */
  found: string | null;
}

/** An exchange that comes close. */
export interface UnfulfilledNearest {
  /** The entry's number. */
  id: number;
  /** What was asked, and what came of it. */
  summary: string;
  /** The route's id; null when there was none. */
  route: string | null;
  /** Why it was refused; null when it was not. */
  reason: string | null;
  /** The parts that it misses; none of one that is too many. */
  missed: UnfulfilledNearestMissed[];
  /** The routes that come closest to a request that found none, such as “VENDOR ROUTE: GET /path”. */
  nearest_routes?: string[];
}

/** A kind of token. */
export interface TokenKindsKind {
  /** The vendor's id. */
  vendor: string;
  /** The kind's name. */
  kind: string;
  /** What it is for. */
  about: string;
  /** Members that an order may have besides header, claims and defect. */
  members: Record<string, string>;
  /** The defects that it can have. */
  defects: string[];
}

/** The response to a request that carries the token; null when the token alone does not decide it. */
export interface VerdictAnswer {
  /** The status code. */
  status: number;
  /** The body, as JSON where it is JSON. */
  body: unknown;
}

/** What a client would do with the token before it sends it. */
export interface VerdictClient {
  /** The name of the client's rules. */
  client: string;
  /** Whether it would send the token. */
  usable: boolean;
  /** The result in the client's own terms. */
  result: Record<string, unknown>;
  /** Every check. */
  findings: Finding[];
}

/** What a vendor would answer. */
export interface Verdict {
  /** The vendor's id. */
  vendor: string;
  /** What the vendor takes the token for. */
  kind: string | null;
  /** The account whose key fits. */
  account: string | null;
  /** Whether nothing that could be judged speaks against it. */
  accepted: boolean;
  /** The failure's name. */
  failure: string | null;
  /** Why it would be refused, in one line. */
  reason: string | null;
  /** The response to a request that carries the token; null when the token alone does not decide it. */
  answer: VerdictAnswer | null;
  /** Every check. */
  findings: Finding[];
  /** What the vendor's clients would do with it. */
  clients: VerdictClient[];
}

/** The keys that an issuer publishes at a URL. */
export interface KeysFetched {
  /** The vendor's id. */
  vendor: string;
  /** The issuer's name. */
  issuer: string;
  /** Where they are published; {self} is this server. */
  url: string;
  /** The names of the usable keys. */
  kids: (string | null)[];
  /** How often the URL was asked. */
  fetches: number;
  /** When the keys came, in Unix seconds. */
  fetched_at: number | null;
  /** When they are to be asked for anew, in Unix seconds. */
  expires_at: number | null;
  /** Why the last attempt brought none. */
  problem: string | null;
}

/** A secret. */
export interface KeysSecret {
  /** The vendor's id. */
  vendor: string;
  /** Whose it is. */
  owner: string;
  /** What it signs with. */
  algorithm: string;
  /** How many bytes it has. */
  bytes: number;
}

/** A key. */
export interface IssuerKey {
  /** Its name. */
  kid: string | null;
  /** What it is for. */
  role: "signing" | "next" | "old";
  /** The public key (RFC 7517). */
  jwk: unknown;
}

/** A replica. */
export interface SandboxesReplica {
  /** Its name; null for one that did not answer. */
  name: string | null;
  /** Where it was asked; null for the one that answers. */
  base: string | null;
  /** Why it did not answer; null when it did. */
  problem: string | null;
}

/** Several faults. */
export interface FaultsSetBodyMembers {
  /** All faults that are to be armed. */
  faults: FaultOrder[];
}

/** Several scenarios. */
export interface ScenariosSetBodyMembers {
  /** All that are to be active, each once. */
  scenarios: (string | ScenarioOrder)[];
}

/** A time to live. */
export interface SandboxesSetBody {
  ttl: Duration | null;
}

/** Unix seconds, or a date and time by RFC 3339; from 1970 to 9999. */
export type Moment = string;

/** A number and its unit: “250ms”, “90s”, “31m”, “2h”, “1d”; at most a thousand years. */
export type Duration = string;

/** A duration of at most 60 seconds, such as “250ms” or “2s”. */
export type Wait = string;

/** Entries, in the form that was asked for. */
export type JournalForms = Journal | BriefJournal | HTTPArchive;

/** An entry, in the form that was asked for. */
export type JournalEntryForms = JournalEntry | BriefEntry | HTTPArchive;

/** Whether the vendors behave as their documents say or as their clients show. */
export type Profile = "documented" | "observed";

/** What a value must be: equal to this one, or all that the words of an object say. */
export type ValueMatcher = string | number | boolean | null | unknown[] | ValueMatcherMembers;

/** A duration of at most 600 seconds, such as “250ms” or “2s”. */
export type Pause = string;

/** What goes wrong on the wire; a delay may stand beside one of the others. */
export type WireFault = "reset" | "empty" | "garbage" | WireFaultMembers;

/**
 * overlap: Another key signs; the old one stays published. retire: The old key leaves the published set. replace:
 * Another key signs, and the old ones leave at once. same-kid: Another key signs under the name of the old one.
 * break: Requests for the published keys get an error. repair: Requests for the published keys get the keys again.
 */
export type KeyDrill = "overlap" | "retire" | "replace" | "same-kid" | "break" | "repair";

/** All operations of the control API, for one sandbox; a refused call throws a `Refusal`. */
export class Control {
  private constructor();

  /** Whether the server is well, and what it stands in for. */
  health(): Promise<Health>;

  /** That the process runs; a supervisor restarts one that does not answer. */
  healthLive(): Promise<Liveness>;

  /**
   * Whether a proxy should send requests here: not while the server stops, nor while it cannot show the other
   * replicas that it is alive.
   */
  healthReady(): Promise<Readiness>;

  /** This description: OpenAPI 3.1. */
  openapi(): Promise<Description>;

  /** What is emulated: each vendor's routes, failures, switches and sample values, and where they are known from. */
  vendorsList(): Promise<Vendors>;

  /** A call of the vendor that works now, its token minted. */
  vendorsSample(vendor: string): Promise<Sample>;

  /** Counts of all sandboxes since the start, as Prometheus reads them; no reset clears them. */
  metrics(): Promise<string>;

  /** The exchanges that a filter admits, the oldest first. */
  journalList(query?: { vendor?: string; route?: string; status?: string; failure?: string; since?: Moment | Duration; after?: number; unmatched?: boolean; refused?: boolean; noted?: boolean; kind?: "incoming" | "outgoing"; last?: number; format?: "json" | "brief" | "har" | "hurl"; wait?: Wait; count?: number }): Promise<JournalForms | string>;

  /** Forgets all exchanges. */
  journalClear(): Promise<void>;

  /** One exchange. */
  journalGet(id: number, query?: { format?: "json" | "brief" | "har" | "hurl" }): Promise<JournalEntryForms | string>;

  /** Counts the exchanges of some kind; where they are too few or too many, shows those that come closest. */
  journalVerify(body: Expectation, query?: { wait?: Wait }): Promise<Fulfilled | Unfulfilled>;

  /** What the clock shows. */
  clockGet(): Promise<Clock>;

  /** Sets, moves, freezes and releases the clock. */
  clockSet(body: ClockChange): Promise<Clock>;

  /** Has the clock show the machine's time. */
  clockClear(): Promise<Clock>;

  /** Profile, switches and seed. */
  settingsGet(): Promise<Settings>;

  /** Changes profile, switches and seed. */
  settingsSet(body: SettingsChange): Promise<Settings>;

  /** The kinds of token that can be minted. */
  tokensKinds(): Promise<TokenKinds>;

  /** What each vendor would answer to a token, and why. */
  tokensExplain(body: ExplainOrder): Promise<Verdicts>;

  /** Makes a token, good or with a defect. */
  tokensMint(vendor: string, kind: string, body?: MintRequest): Promise<MintedToken>;

  /** The armed faults, and what each has seen. */
  faultsList(): Promise<Faults>;

  /** Replaces the armed faults. */
  faultsSet(body: FaultOrder | FaultsSetBodyMembers): Promise<Faults>;

  /** Disarms all faults. */
  faultsClear(): Promise<void>;

  /** The scenarios there are, and those that are active. */
  scenariosList(query?: { rules?: boolean }): Promise<Scenarios>;

  /** Replaces the active scenarios; each starts anew. */
  scenariosSet(body: ScenarioOrder | ScenariosSetBodyMembers): Promise<Scenarios>;

  /** Ends all scenarios. */
  scenariosClear(): Promise<void>;

  /** What can happen to the vendors' states. */
  actionsList(): Promise<Actions>;

  /** Lets something happen to a vendor's state. */
  stateAct(vendor: string, action: string, body?: Record<string, unknown>): Promise<unknown>;

  /** The sandboxes in memory, by name. */
  sandboxesList(query?: { replicas?: "this" | "all" }): Promise<Sandboxes>;

  /** Sets how long a sandbox may lie unused before it goes; makes the sandbox if there is none. */
  sandboxesSet(name: string, body: SandboxesSetBody): Promise<Sandbox>;

  /** Forgets a sandbox with all it holds; the standard one is reset instead. */
  sandboxesDelete(name: string): Promise<void>;

  /** Makes the sandbox as it was when it came into being. */
  reset(): Promise<void>;

  /** What the vendor remembers in the sandbox: users, addresses and the like, without passwords and keys. */
  stateGet(vendor: string): Promise<Record<string, unknown>>;

  /** Replaces what the vendor remembers in the sandbox; records that stay keep the secrets that are left out. */
  stateSet(vendor: string, body: Record<string, unknown>): Promise<Record<string, unknown>>;

  /** The keys that the vendors' issuers publish, and what else is signed with. */
  keysList(): Promise<Keys>;

  /** Rotates or breaks the keys of an issuer. */
  keysDrill(vendor: string, issuer: string, drill: KeyDrill): Promise<Issuer>;
}
