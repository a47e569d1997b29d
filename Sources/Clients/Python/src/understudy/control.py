"""The control API: a method for each operation, a type for each schema.

Written by Sources/Clients/generate from the server's OpenAPI document; edits here would be lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

from ._transport import Sender, part

if TYPE_CHECKING:
    # Type checkers know it; nothing of it is needed to run.
    from typing_extensions import NotRequired


class Problem(TypedDict):
    """Why a call is refused."""

    # The refusal.
    error: ProblemError


class Health(TypedDict):
    """That the server is well, and what it stands in for."""

    # “ok”.
    status: str
    # The release.
    version: str
    # The vendors.
    vendors: List[HealthVendor]
    # A short text that changes with any fixture file.
    fixtures: str
    # The folders of fixtures that are in force, the topmost first.
    layers: List[HealthLayer]
    # How reading the fixtures anew went.
    reload: HealthReload
    # Where sandboxes are kept across restarts; absent without serve --state.
    state: NotRequired[HealthState]
    # The replica's name, where several share a folder.
    replica: NotRequired[str]
    # What of the state file could not be read, and is kept for the next export.
    set_aside: HealthSetAside


class Description(TypedDict):
    """An OpenAPI document."""

    # The version of OpenAPI.
    openapi: str
    # Title and release.
    info: Dict[str, Any]
    # Where the paths begin.
    servers: List[Dict[str, Any]]
    # What calls ask for.
    security: List[Dict[str, Any]]
    # The calls.
    paths: Dict[str, Any]
    # What the calls share.
    components: Dict[str, Any]


class Vendors(TypedDict):
    """What is emulated."""

    # The vendors.
    vendors: List[Vendor]
    # The port at which the vendors are; null when it is this one.
    port: Union[int, None]


class Sample(TypedDict):
    """A call that works."""

    # The call; null where the fixtures leave nothing to sign with.
    sample: Union[SampleSample, None]


class Clock(TypedDict):
    """What a sandbox's clock shows."""

    # The moment by RFC 3339, in UTC with milliseconds.
    now: str
    # The moment in Unix seconds.
    unix: float
    # Whether the clock stands still.
    frozen: bool
    # Whether it shows the machine's time.
    machine_time: bool
    # There when the clock ran to the end of the year 9999 and stopped.
    note: NotRequired[str]


class ClockChange(TypedDict):
    """What becomes of the clock: it is frozen first, then set, then moved, then released."""

    # The moment to show; null for the machine's time.
    now: NotRequired[Union[Moment, float, None]]
    advance: NotRequired[Duration]
    # Whether the clock shall stand still.
    freeze: NotRequired[bool]


class Finding(TypedDict):
    """One check of a token or a request, and how it came out."""

    # The check's stable name.
    check: str
    # How it came out.
    outcome: Literal["passed", "failed", "noted", "not-judged"]
    # What the rule asks for.
    expected: NotRequired[Any]
    # What is there; null when nothing is.
    found: NotRequired[Any]
    # Why it matters, or what to do.
    note: NotRequired[str]
    # Which document says so.
    source: NotRequired[str]


class RecordedRequest(TypedDict):
    """A request as the journal shows it."""

    # The method.
    method: str
    # Path and query as they were sent, tokens masked, without the sandbox's prefix.
    target: str
    # The field lines in order, each a name and a value; credentials are masked.
    headers: List[List[str]]
    # JSON as JSON, text as a string, other bytes as their number; null when empty. Secrets are masked.
    body: Any


# A message of a WebSocket as the journal shows it.
RecordedFrame = TypedDict(
    "RecordedFrame",
    {
        # Who sent it.
        "from": "Literal['client', 'server']",
        # The moment by the sandbox's clock, by RFC 3339.
        "at": "str",
        # JSON as JSON, text as a string; the number of bytes of others and of long ones. Secrets are masked.
        "message": "Any",
        # What the vendor remarked on it.
        "findings": "List[Finding]",
        # The number of the entry whose call the server sent it for; null for greetings, echoes, actions and
        # deadlines.
        "cause": "Union[int, None]",
    },
)


class RecordedSocket(TypedDict):
    """What passed through the WebSocket that an exchange opened."""

    # How many messages the client sent.
    received: int
    # How many messages the server sent.
    sent: int
    # How it ended; null while it has not.
    closed: Union[RecordedSocketClosed, None]
    # What the vendor remarked on its opening and its end.
    findings: List[Finding]
    # The newest messages in order, as many as there is room for.
    frames: List[RecordedFrame]


class JournalEntry(TypedDict):
    """One exchange, and why it came out as it did."""

    # The entry's number in its sandbox.
    id: int
    # The sandbox.
    sandbox: str
    # The moment by the sandbox's clock, by RFC 3339.
    at: str
    # The vendor's id; null when nobody owns the path.
    vendor: Union[str, None]
    # The route's id; null when there is none at the path.
    route: Union[str, None]
    # The status code.
    status: int
    # The failure's name; null when the call succeeded.
    failure: Union[str, None]
    # What led to the failure, in one line.
    reason: Union[str, None]
    # What the accepted call was remarked on, in one line.
    note: NotRequired[str]
    # What influenced the answer.
    intervention: NotRequired[Union[str, List[Union[str, Dict[str, Any]]]]]
    # Says of an entry that the server itself sent the request.
    kind: NotRequired[Literal["outgoing"]]
    # The address that the server asked, tokens masked.
    url: NotRequired[str]
    # The routes that come closest to a request that found none, such as “VENDOR ROUTE: GET /path”.
    nearest_routes: NotRequired[List[str]]
    # Every check, in the vendor's order.
    findings: List[Finding]
    request: RecordedRequest
    # The response.
    response: JournalEntryResponse
    # The orders of the request that were refused each by itself.
    parts: NotRequired[JournalEntryParts]
    socket: NotRequired[RecordedSocket]
    # The replica that answered, where several share a folder.
    replica: NotRequired[str]


class Journal(TypedDict):
    """Entries of a sandbox's journal."""

    # The sandbox.
    sandbox: str
    # The replica that answered, where several share a folder.
    replica: NotRequired[str]
    # The entries, the oldest first.
    entries: List[JournalEntry]


class BriefEntry(TypedDict):
    """What a list shows of an exchange; the members mean what they mean in the whole entry."""

    # The entry's number in its sandbox.
    id: int
    # The moment by the sandbox's clock, by RFC 3339.
    at: str
    # The vendor's id.
    vendor: Union[str, None]
    # The route's id.
    route: Union[str, None]
    # The status code.
    status: int
    # The failure's name.
    failure: Union[str, None]
    # What led to the failure, in one line.
    reason: Union[str, None]
    # The method.
    method: str
    # Path and query, tokens masked, without the sandbox's prefix.
    target: str
    # What the accepted call was remarked on, in one line.
    note: NotRequired[str]
    # What influenced the answer.
    intervention: NotRequired[Union[str, List[Union[str, Dict[str, Any]]]]]
    # Says of an entry that the server itself sent the request.
    kind: NotRequired[Literal["outgoing"]]
    # The routes that come closest to a request that found none, such as “VENDOR ROUTE: GET /path”.
    nearest_routes: NotRequired[List[str]]


class BriefJournal(TypedDict):
    """Entries of a sandbox's journal, in brief."""

    # The sandbox.
    sandbox: str
    # The replica that answered, where several share a folder.
    replica: NotRequired[str]
    # The number of the newest entry, whatever the filter; 0 without any.
    newest: int
    # The entries, the oldest first.
    entries: List[BriefEntry]


class HTTPArchive(TypedDict):
    """Exchanges as HTTP Archive 1.2."""

    # Its version, who made it, and the exchanges.
    log: Dict[str, Any]


class Settings(TypedDict):
    """How a sandbox wants the vendors to behave."""

    profile: Profile
    # Profiles of single vendors, by id.
    vendor_profiles: Dict[str, Profile]
    # What makes ids repeatable; null when they are not.
    seed: Union[int, None]
    # The values of all switches, by VENDOR.SWITCH.
    switches: Dict[str, str]


class SettingsChange(TypedDict):
    """What becomes of the settings; what is not named stays."""

    # The profile of all vendors, or those of single ones by id; null takes one back.
    profile: NotRequired[Union[Profile, Mapping[str, Union[Profile, None]]]]
    # Values by VENDOR.SWITCH; null leaves a switch to the profile.
    switches: NotRequired[Mapping[str, Union[str, float, None]]]
    # What makes ids repeatable; null makes them unpredictable.
    seed: NotRequired[Union[int, None]]


class ExchangeCondition(TypedDict):
    """What an exchange must be like; all parts must hold."""

    method: NotRequired[ValueMatcher]
    path: NotRequired[ValueMatcher]
    # By parameter of the query.
    query: NotRequired[Mapping[str, ValueMatcher]]
    # By name, in any case.
    header: NotRequired[Mapping[str, ValueMatcher]]
    # By field of a form.
    form: NotRequired[Mapping[str, ValueMatcher]]
    # By member of a JSON body, or JSONPath.
    body: NotRequired[Mapping[str, ValueMatcher]]
    # By claim, or JSONPath.
    claims: NotRequired[Mapping[str, ValueMatcher]]
    token_age: NotRequired[ValueMatcher]
    token_left: NotRequired[ValueMatcher]
    reason: NotRequired[ValueMatcher]


# A range to draw from.
PauseRange = TypedDict(
    "PauseRange",
    {
        "from": "Pause",
        "to": "Pause",
    },
)


class Drip(TypedDict):
    """The answer goes out in portions."""

    # Bytes of a portion.
    chunk: int
    every: Pause


class OwnResponse(TypedDict):
    """A response in place of the vendor's; strings in it may be templates."""

    # The status code; 200.
    status: NotRequired[int]
    # Field values by name.
    headers: NotRequired[Mapping[str, str]]
    # A text, or JSON.
    body: NotRequired[Any]


class Fault(TypedDict):
    """A fault as it was ordered, and what it has seen."""

    # The vendor's id; the one that has the route.
    vendor: str
    # A route's id, with * all that fit, or a list of such; without it every route of the vendor.
    route: NotRequired[Union[str, List[str]]]
    when: NotRequired[ExchangeCondition]
    # How often it strikes; once, or always where every or probability say which calls.
    times: NotRequired[Union[int, Literal["always"]]]
    # The call of that number from now on is hit.
    call: NotRequired[int]
    # Every so manieth call is hit.
    every: NotRequired[int]
    # Each call is hit with that probability.
    probability: NotRequired[float]
    # What the probability is drawn from.
    seed: NotRequired[int]
    # The name of the failure of the vendor that is answered.
    fail: NotRequired[str]
    # What the failure's body is filled with.
    parameters: NotRequired[Dict[str, Any]]
    respond: NotRequired[OwnResponse]
    # An action of the vendor: its name, or one name with its members.
    do: NotRequired[Union[str, Dict[str, Any]]]
    fault: NotRequired[WireFault]
    # How many calls it was for.
    calls: int
    # How often it struck.
    strikes: int


class FaultOrder(TypedDict):
    """A fault to arm. It names a route or a vendor, says what happens, and of call, every and probability at most
    one."""

    # The vendor's id; the one that has the route.
    vendor: NotRequired[str]
    # A route's id, with * all that fit, or a list of such; without it every route of the vendor.
    route: NotRequired[Union[str, Sequence[str]]]
    when: NotRequired[ExchangeCondition]
    # How often it strikes; once, or always where every or probability say which calls.
    times: NotRequired[Union[int, Literal["always"]]]
    # The call of that number from now on is hit.
    call: NotRequired[int]
    # Every so manieth call is hit.
    every: NotRequired[int]
    # Each call is hit with that probability.
    probability: NotRequired[float]
    # What the probability is drawn from.
    seed: NotRequired[int]
    # The name of the failure of the vendor that is answered.
    fail: NotRequired[str]
    # What the failure's body is filled with.
    parameters: NotRequired[Mapping[str, Any]]
    respond: NotRequired[OwnResponse]
    # An action of the vendor: its name, or one name with its members.
    do: NotRequired[Union[str, Mapping[str, Any]]]
    fault: NotRequired[WireFault]


class Faults(TypedDict):
    """The armed faults."""

    # The armed faults.
    faults: List[Fault]


class Scenarios(TypedDict):
    """The scenarios there are, and those that are active."""

    # The active ones, the first one first.
    active: List[ScenariosActive]
    # All of them.
    available: List[ScenariosAvailable]


class ScenarioOrder(TypedDict):
    """A scenario to activate."""

    # Its name.
    scenario: str
    # The state to start in; the first one.
    state: NotRequired[str]


class Actions(TypedDict):
    """What can happen to the vendors' states."""

    # The actions.
    actions: List[Action]


class Expectation(TypedDict):
    """How many exchanges of some kind the journal shall hold."""

    # The fewest; 1 where nothing is said.
    at_least: NotRequired[int]
    # The most.
    at_most: NotRequired[int]
    # Neither more nor fewer, instead of the two others.
    exactly: NotRequired[int]
    # What they must be like; all parts must hold. Further members are the names of notes that a vendor makes.
    where: NotRequired[Mapping[str, Any]]


class Fulfilled(TypedDict):
    """The expectation holds."""

    verified: Literal[True]
    # How many there are.
    count: int
    # Their numbers.
    entries: List[int]


class Unfulfilled(TypedDict):
    """The expectation does not hold."""

    verified: Literal[False]
    # How many there are.
    count: int
    # The bounds, such as “exactly 1”.
    expected: str
    # What was expected and found, and the nearest exchange, in one line.
    message: str
    # Those that miss fewest parts, or those that are too many; the latest first, five at most.
    nearest: List[UnfulfilledNearest]


class TokenKinds(TypedDict):
    """The kinds of token that can be minted."""

    # The kinds.
    kinds: List[TokenKindsKind]


class MintRequest(TypedDict):
    """What the token shall be like; the kind says which members it knows besides these."""

    # What shall be wrong with it; the kind lists the names.
    defect: NotRequired[str]
    # Members of the header, set last.
    header: NotRequired[Mapping[str, Any]]
    # Claims, set last.
    claims: NotRequired[Mapping[str, Any]]


class MintedToken(TypedDict):
    """A token."""

    # The token.
    token: str
    # The header that it holds.
    header: Dict[str, Any]
    # The claims that it holds.
    claims: Dict[str, Any]


class ExplainOrder(TypedDict):
    """The token that is to be explained."""

    # The token.
    token: str
    # The only vendor to be asked, by id.
    vendor: NotRequired[str]
    # What is known of the request that carries it; vendors name the members.
    request: NotRequired[Mapping[str, Any]]


class Verdicts(TypedDict):
    """What the vendors would answer."""

    # One for each vendor that was asked.
    verdicts: List[Verdict]


class Keys(TypedDict):
    """What the vendors' tokens are signed with."""

    # The issuers that publish keys.
    issuers: List[Issuer]
    # The keys that are published elsewhere, as this sandbox has them.
    fetched: List[KeysFetched]
    # The secrets that are shared with those who sign; never themselves.
    secrets: List[KeysSecret]


class Issuer(TypedDict):
    """An issuer with the keys that it publishes."""

    # The vendor's id.
    vendor: str
    # The issuer's name.
    issuer: str
    # What the keys sign with.
    algorithm: str
    # Whether asking for the keys is answered by an error.
    broken: bool
    # How often the keys were asked for.
    fetches: int
    # The published keys, the one that signs first.
    keys: List[IssuerKey]


class Sandbox(TypedDict):
    """A sandbox."""

    # Its name.
    name: str
    # When it came into being, by the machine's clock.
    created_at: str
    # How long it has been there.
    age_seconds: int
    # How long nobody has used it.
    idle_seconds: int
    # How long it may lie unused; null: for as long as there is room.
    ttl_seconds: Union[float, None]
    # When it goes, if nobody uses it until then; null: while a socket is open, never.
    expires_in_seconds: Union[float, None]
    # Whether it shows the machine's time, runs beside it, or stands still.
    clock: Literal["machine", "moved", "frozen"]
    # What its clock shows.
    now: str
    # The seed of ids and times.
    seed: Union[int, None]
    # How many exchanges it has seen.
    exchanges: int
    # How many WebSockets are open.
    sockets: int
    # How many entries its journal keeps.
    journal_entries: int
    # An estimate of the memory they take.
    journal_bytes: int
    # The replica that has it, where several share a folder.
    replica: NotRequired[str]


class Sandboxes(TypedDict):
    """The sandboxes."""

    # The standard one first, then the others by name.
    sandboxes: List[Sandbox]
    # The replica that answers, where several share a folder.
    replica: NotRequired[str]
    # The replicas that were asked, this one first.
    replicas: NotRequired[List[SandboxesReplica]]


class Liveness(TypedDict):
    """That the process runs."""

    # “ok”.
    status: str


class Readiness(TypedDict):
    """Whether the server takes requests."""

    # Whether it does.
    ready: bool
    # The replica's name; null for a server alone.
    replica: Union[str, None]
    # Why it does not; null when it does.
    reason: Union[str, None]


class ProblemError(TypedDict):
    """The refusal."""

    # A stable name.
    code: str
    # What was found and what would be right.
    message: str


class HealthVendor(TypedDict):
    """A vendor."""

    # The name that files, flags and calls use.
    id: str
    # The name for people.
    title: str
    # How many routes it has.
    routes: int
    # How many failures it has.
    failures: int


class HealthLayer(TypedDict):
    """A folder of fixtures."""

    # The folder, from the root of the file system.
    folder: str
    # Files that look like fixtures and are read by nobody, each with a hint.
    unread: List[str]


class HealthReload(TypedDict):
    """How reading the fixtures anew went."""

    # Whether changed files are taken over while it runs.
    watching: bool
    # How often fixtures were replaced.
    count: int
    # When that was last, by the machine's clock.
    at: Union[str, None]
    # Why the files as they stand are not in force; null when they are.
    problem: Union[str, None]


class HealthState(TypedDict):
    """Where sandboxes are kept across restarts; absent without serve --state."""

    # The folder.
    folder: str
    # Why sandboxes are not written there now; null when all are.
    problem: Union[str, None]


class HealthSetAsidePart(TypedDict):
    """A part."""

    # The sandbox, if its name could be read.
    sandbox: Union[str, None]
    # The vendor; null for the whole sandbox.
    vendor: Union[str, None]
    # Where in the vendor's state; empty for all of it.
    record: str
    # What was found, and what would be right.
    problem: str


class HealthSetAside(TypedDict):
    """What of the state file could not be read, and is kept for the next export."""

    # How many parts.
    count: int
    # The first of them.
    parts: List[HealthSetAsidePart]


class VendorRoute(TypedDict):
    """A method and path."""

    # The route's id, which several may share.
    route: str
    # The method.
    method: str
    # The path, parameters in braces.
    path: str
    # Where it is known from: documented by the vendor, observed in its clients, inferred from those, or ours.
    evidence: Literal["documented", "observed", "inferred", "ours"]
    # The source in words.
    source: str


class VendorFailure(TypedDict):
    """A failure."""

    # Its name.
    failure: str
    # The status code.
    status: int
    # When it is answered.
    about: str
    # Where it is known from: documented by the vendor, observed in its clients, inferred from those, or ours.
    evidence: Literal["documented", "observed", "inferred", "ours"]
    # The source in words.
    source: str
    # The vendor's other failures that look the same on the wire.
    lookalikes: List[str]


class VendorSwitch(TypedDict):
    """A switch."""

    # Its name without the vendor.
    name: str
    # What it decides.
    about: str
    # Its value in profile documented.
    documented: str
    # Its value in profile observed.
    observed: str
    # What it can be set to, in words.
    values: str
    # The words it can be set to, if only some can.
    choices: Union[List[str], None]
    # The source in words.
    source: str


class VendorRequestFact(TypedDict):
    """A fact."""

    # Its name.
    name: str
    # What it is.
    about: str


class VendorSample(TypedDict):
    """A value."""

    # What it is.
    label: str
    # The value.
    value: str


class Vendor(TypedDict):
    """A vendor."""

    # The name that files, flags and calls use.
    id: str
    # The name for people.
    title: str
    # Each method and path.
    routes: List[VendorRoute]
    # How its calls can fail.
    failures: List[VendorFailure]
    # Differences that can be chosen.
    switches: List[VendorSwitch]
    # What explaining a token may want to know of its request.
    request_facts: List[VendorRequestFact]
    # Ids and public keys of the sample accounts.
    samples: List[VendorSample]


class SampleSample(TypedDict):
    """The call; null where the fixtures leave nothing to sign with."""

    # The method.
    method: str
    # The path.
    path: str
    # The fields, each a name and a value.
    headers: List[List[str]]
    # The content; may be empty.
    body: str


class RecordedSocketClosed(TypedDict):
    """How it ended; null while it has not."""

    # The close code of RFC 6455.
    code: int
    # The reason.
    reason: str
    # The moment by the sandbox's clock, by RFC 3339.
    at: str


class JournalEntryResponse(TypedDict):
    """The response."""

    # The status code.
    status: int
    # The field lines in order, each a name and a value; credentials are masked.
    headers: List[List[str]]
    # JSON as JSON, text as a string, other bytes as their number; null when empty. Secrets are masked.
    body: Any


class JournalEntryPartsFirst(TypedDict):
    """An order that was refused while the request was answered."""

    # Which of the orders.
    number: int
    # What it asks for, in the vendor's words.
    name: str
    # The failure's name.
    failure: str
    # What led to the failure, in one line.
    reason: Union[str, None]
    # Every check that was made for it.
    findings: List[Finding]


class JournalEntryParts(TypedDict):
    """The orders of the request that were refused each by itself."""

    # How many there were.
    refused: int
    # The first hundred of them.
    first: List[JournalEntryPartsFirst]


# At least one word.
ValueMatcherMembers = TypedDict(
    "ValueMatcherMembers",
    {
        # Equal to this.
        "is": "NotRequired[Any]",
        # Anything but this, or nothing at all.
        "not": "NotRequired[Any]",
        # A text with this in it, or a list with this among its elements.
        "contains": "NotRequired[str]",
        # A text of this form: * stands for any characters, ? for one.
        "like": "NotRequired[str]",
        # Whether it is there at all.
        "present": "NotRequired[bool]",
        # A number, or the seconds of a duration.
        "over": "NotRequired[Union[float, Duration]]",
        # A number, or the seconds of a duration.
        "under": "NotRequired[Union[float, Duration]]",
    },
)


class WireFaultMembers(TypedDict):
    """With more to say."""

    # How long the answer waits, at most 600s.
    delay: NotRequired[Union[Pause, PauseRange]]
    # Whether the connection breaks.
    reset: NotRequired[bool]
    # Whether it closes without an answer.
    empty: NotRequired[bool]
    # Whether bytes that are no HTTP are answered.
    garbage: NotRequired[bool]
    # How many bytes of content still go out.
    truncate: NotRequired[int]
    drip: NotRequired[Drip]


class ScenariosActive(TypedDict):
    """An active scenario."""

    # Its name.
    scenario: str
    # The vendor's id.
    vendor: str
    # The state it is in.
    state: str
    # How many calls each rule of the state has seen.
    calls: List[int]


class ScenariosAvailableRule(TypedDict):
    """A rule, in words."""

    # The state it belongs to.
    state: str
    # The ids of the routes that it is for.
    routes: List[str]
    # Which of the calls there, such as “call 3”.
    calls: str
    # What else is asked of the call; null for nothing.
    when: Union[str, None]
    # What it does; empty when calls pass.
    effect: str
    # The state that comes next; null to stay.
    go: Union[str, None]


class ScenariosAvailable(TypedDict):
    """A scenario."""

    # Its name.
    scenario: str
    # The vendor's id.
    vendor: str
    # What it shows.
    about: str
    # Its states, the first one first.
    states: List[str]
    # The rules of its states, where they were asked for.
    rules: NotRequired[List[ScenariosAvailableRule]]


class ActionMember(TypedDict):
    """A member."""

    # Its name.
    name: str
    # What it means.
    about: str
    # Whether it must be there.
    required: bool


class Action(TypedDict):
    """An action."""

    # The vendor's id.
    vendor: str
    # Its name.
    action: str
    # What it does.
    about: str
    # What it has to be told.
    members: List[ActionMember]


class ExpectationWhere(TypedDict):
    """What they must be like; all parts must hold. Further members are the names of notes that a vendor makes."""

    # The vendor's id.
    vendor: NotRequired[str]
    # The route's id, or a pattern of ids with *.
    route: NotRequired[str]
    # The status.
    status: NotRequired[Union[int, str]]
    # Whether it has a failure.
    refused: NotRequired[bool]
    # The failure's name.
    failure: NotRequired[str]
    # That moment or a later one, by the sandbox's clock.
    since: NotRequired[Union[Moment, float]]
    # Behind the entry of that number.
    after: NotRequired[int]
    # Whether it found no route.
    unmatched: NotRequired[bool]
    # Whether the server received it, which counts if nothing is said, or sent it for an action.
    kind: NotRequired[Literal["incoming", "outgoing"]]
    method: NotRequired[ValueMatcher]
    path: NotRequired[ValueMatcher]
    # By parameter of the query.
    query: NotRequired[Mapping[str, ValueMatcher]]
    # By name, in any case.
    header: NotRequired[Mapping[str, ValueMatcher]]
    # By field of a form.
    form: NotRequired[Mapping[str, ValueMatcher]]
    # By member of a JSON body, or JSONPath.
    body: NotRequired[Mapping[str, ValueMatcher]]
    # By claim, or JSONPath.
    claims: NotRequired[Mapping[str, ValueMatcher]]
    token_age: NotRequired[ValueMatcher]
    token_left: NotRequired[ValueMatcher]
    reason: NotRequired[ValueMatcher]


class UnfulfilledNearestMissed(TypedDict):
    """A part."""

    # Which part, such as “body $.email”.
    condition: str
    # What it demands.
    expected: str
    # What is there, secrets masked; null when nothing is.
    found: Union[str, None]


class UnfulfilledNearest(TypedDict):
    """An exchange that comes close."""

    # The entry's number.
    id: int
    # What was asked, and what came of it.
    summary: str
    # The route's id; null when there was none.
    route: Union[str, None]
    # Why it was refused; null when it was not.
    reason: Union[str, None]
    # The parts that it misses; none of one that is too many.
    missed: List[UnfulfilledNearestMissed]
    # The routes that come closest to a request that found none, such as “VENDOR ROUTE: GET /path”.
    nearest_routes: NotRequired[List[str]]


class TokenKindsKind(TypedDict):
    """A kind of token."""

    # The vendor's id.
    vendor: str
    # The kind's name.
    kind: str
    # What it is for.
    about: str
    # Members that an order may have besides header, claims and defect.
    members: Dict[str, str]
    # The defects that it can have.
    defects: List[str]


class VerdictAnswer(TypedDict):
    """The response to a request that carries the token; null when the token alone does not decide it."""

    # The status code.
    status: int
    # The body, as JSON where it is JSON.
    body: Any


class VerdictClient(TypedDict):
    """What a client would do with the token before it sends it."""

    # The name of the client's rules.
    client: str
    # Whether it would send the token.
    usable: bool
    # The result in the client's own terms.
    result: Dict[str, Any]
    # Every check.
    findings: List[Finding]


class Verdict(TypedDict):
    """What a vendor would answer."""

    # The vendor's id.
    vendor: str
    # What the vendor takes the token for.
    kind: Union[str, None]
    # The account whose key fits.
    account: Union[str, None]
    # Whether nothing that could be judged speaks against it.
    accepted: bool
    # The failure's name.
    failure: Union[str, None]
    # Why it would be refused, in one line.
    reason: Union[str, None]
    # The response to a request that carries the token; null when the token alone does not decide it.
    answer: Union[VerdictAnswer, None]
    # Every check.
    findings: List[Finding]
    # What the vendor's clients would do with it.
    clients: List[VerdictClient]


class KeysFetched(TypedDict):
    """The keys that an issuer publishes at a URL."""

    # The vendor's id.
    vendor: str
    # The issuer's name.
    issuer: str
    # Where they are published; {self} is this server.
    url: str
    # The names of the usable keys.
    kids: List[Union[str, None]]
    # How often the URL was asked.
    fetches: int
    # When the keys came, in Unix seconds.
    fetched_at: Union[int, None]
    # When they are to be asked for anew, in Unix seconds.
    expires_at: Union[int, None]
    # Why the last attempt brought none.
    problem: Union[str, None]


class KeysSecret(TypedDict):
    """A secret."""

    # The vendor's id.
    vendor: str
    # Whose it is.
    owner: str
    # What it signs with.
    algorithm: str
    # How many bytes it has.
    bytes: int


class IssuerKey(TypedDict):
    """A key."""

    # Its name.
    kid: Union[str, None]
    # What it is for.
    role: Literal["signing", "next", "old"]
    # The public key (RFC 7517).
    jwk: Any


class SandboxesReplica(TypedDict):
    """A replica."""

    # Its name; null for one that did not answer.
    name: Union[str, None]
    # Where it was asked; null for the one that answers.
    base: Union[str, None]
    # Why it did not answer; null when it did.
    problem: Union[str, None]


class FaultsSetBodyMembers(TypedDict):
    """Several faults."""

    # All faults that are to be armed.
    faults: Sequence[FaultOrder]


class ScenariosSetBodyMembers(TypedDict):
    """Several scenarios."""

    # All that are to be active, each once.
    scenarios: Sequence[Union[str, ScenarioOrder]]


class SandboxesSetBody(TypedDict):
    """A time to live."""

    ttl: Union[Duration, None]


# Unix seconds, or a date and time by RFC 3339; from 1970 to 9999.
Moment = str

# A number and its unit: “250ms”, “90s”, “31m”, “2h”, “1d”; at most a thousand years.
Duration = str

# A duration of at most 60 seconds, such as “250ms” or “2s”.
Wait = str

# Entries, in the form that was asked for.
JournalForms = Union[Journal, BriefJournal, HTTPArchive]

# An entry, in the form that was asked for.
JournalEntryForms = Union[JournalEntry, BriefEntry, HTTPArchive]

# Whether the vendors behave as their documents say or as their clients show.
Profile = Literal["documented", "observed"]

# What a value must be: equal to this one, or all that the words of an object say.
ValueMatcher = Union[str, float, bool, None, Sequence[Any], ValueMatcherMembers]

# A duration of at most 600 seconds, such as “250ms” or “2s”.
Pause = str

# What goes wrong on the wire; a delay may stand beside one of the others.
WireFault = Union[Literal["reset", "empty", "garbage"], WireFaultMembers]

# overlap: Another key signs; the old one stays published. retire: The old key leaves the published set. replace:
# Another key signs, and the old ones leave at once. same-kid: Another key signs under the name of the old one. break:
# Requests for the published keys get an error. repair: Requests for the published keys get the keys again.
KeyDrill = Literal["overlap", "retire", "replace", "same-kid", "break", "repair"]


class Control:
    """All operations of the control API, for one sandbox.

    Arguments and answers are those of the OpenAPI document; a refused call raises a `Refusal`.
    """

    def __init__(self, send: Sender) -> None:
        self._send = send

    def health(self) -> Health:
        """Whether the server is well, and what it stands in for.

        `GET health`
        """
        answer: Health = self._send("GET", "health", expected=(200,))
        return answer

    def health_live(self) -> Liveness:
        """That the process runs; a supervisor restarts one that does not answer.

        `GET health/live`
        """
        answer: Liveness = self._send("GET", "health/live", expected=(200,))
        return answer

    def health_ready(self) -> Readiness:
        """Whether a proxy should send requests here: not while the server stops, nor while it cannot show the other
        replicas that it is alive.

        `GET health/ready`
        """
        answer: Readiness = self._send("GET", "health/ready", expected=(200, 503))
        return answer

    def openapi(self) -> Description:
        """This description: OpenAPI 3.1.

        `GET openapi.json`
        """
        answer: Description = self._send("GET", "openapi.json", expected=(200,))
        return answer

    def vendors_list(self) -> Vendors:
        """What is emulated: each vendor's routes, failures, switches and sample values, and where they are known
        from.

        `GET vendors`
        """
        answer: Vendors = self._send("GET", "vendors", expected=(200,))
        return answer

    def vendors_sample(self, vendor: str) -> Sample:
        """A call of the vendor that works now, its token minted.

        `GET vendors/{vendor}/sample`
        """
        answer: Sample = self._send("GET", f"vendors/{part(vendor)}/sample", expected=(200,))
        return answer

    def metrics(self) -> str:
        """Counts of all sandboxes since the start, as Prometheus reads them; no reset clears them.

        `GET metrics`
        """
        answer: str = self._send("GET", "metrics", expected=(200,))
        return answer

    def journal_list(
        self,
        *,
        vendor: Optional[str] = None,
        route: Optional[str] = None,
        status: Optional[str] = None,
        failure: Optional[str] = None,
        since: Optional[Union[Moment, Duration]] = None,
        after: Optional[int] = None,
        unmatched: Optional[bool] = None,
        refused: Optional[bool] = None,
        noted: Optional[bool] = None,
        kind: Optional[Literal["incoming", "outgoing"]] = None,
        last: Optional[int] = None,
        format: Optional[Literal["json", "brief", "har", "hurl"]] = None,
        wait: Optional[Wait] = None,
        count: Optional[int] = None,
    ) -> Union[JournalForms, str]:
        """The exchanges that a filter admits, the oldest first.

        `GET journal`
        """
        answer: Union[JournalForms, str] = self._send("GET", "journal", query={"vendor": vendor, "route": route, "status": status, "failure": failure, "since": since, "after": after, "unmatched": unmatched, "refused": refused, "noted": noted, "kind": kind, "last": last, "format": format, "wait": wait, "count": count}, expected=(200,))
        return answer

    def journal_clear(self) -> None:
        """Forgets all exchanges.

        `DELETE journal`
        """
        self._send("DELETE", "journal", expected=(204,))

    def journal_get(
        self,
        id: int,
        *,
        format: Optional[Literal["json", "brief", "har", "hurl"]] = None,
    ) -> Union[JournalEntryForms, str]:
        """One exchange.

        `GET journal/{id}`
        """
        answer: Union[JournalEntryForms, str] = self._send("GET", f"journal/{part(id)}", query={"format": format}, expected=(200,))
        return answer

    def journal_verify(self, body: Expectation, *, wait: Optional[Wait] = None) -> Union[Fulfilled, Unfulfilled]:
        """Counts the exchanges of some kind; where they are too few or too many, shows those that come closest.

        `POST journal/verify`
        """
        answer: Union[Fulfilled, Unfulfilled] = self._send("POST", "journal/verify", query={"wait": wait}, body=body, expected=(200, 409))
        return answer

    def clock_get(self) -> Clock:
        """What the clock shows.

        `GET clock`
        """
        answer: Clock = self._send("GET", "clock", expected=(200,))
        return answer

    def clock_set(self, body: ClockChange) -> Clock:
        """Sets, moves, freezes and releases the clock.

        `PUT clock`
        """
        answer: Clock = self._send("PUT", "clock", body=body, expected=(200,))
        return answer

    def clock_clear(self) -> Clock:
        """Has the clock show the machine's time.

        `DELETE clock`
        """
        answer: Clock = self._send("DELETE", "clock", expected=(200,))
        return answer

    def settings_get(self) -> Settings:
        """Profile, switches and seed.

        `GET settings`
        """
        answer: Settings = self._send("GET", "settings", expected=(200,))
        return answer

    def settings_set(self, body: SettingsChange) -> Settings:
        """Changes profile, switches and seed.

        `PUT settings`
        """
        answer: Settings = self._send("PUT", "settings", body=body, expected=(200,))
        return answer

    def tokens_kinds(self) -> TokenKinds:
        """The kinds of token that can be minted.

        `GET tokens`
        """
        answer: TokenKinds = self._send("GET", "tokens", expected=(200,))
        return answer

    def tokens_explain(self, body: ExplainOrder) -> Verdicts:
        """What each vendor would answer to a token, and why.

        `POST tokens/explain`
        """
        answer: Verdicts = self._send("POST", "tokens/explain", body=body, expected=(200,))
        return answer

    def tokens_mint(self, vendor: str, kind: str, body: Optional[Mapping[str, Any]] = None) -> MintedToken:
        """Makes a token, good or with a defect.

        `POST tokens/{vendor}/{kind}`
        """
        answer: MintedToken = self._send("POST", f"tokens/{part(vendor)}/{part(kind)}", body=body, expected=(200,))
        return answer

    def faults_list(self) -> Faults:
        """The armed faults, and what each has seen.

        `GET faults`
        """
        answer: Faults = self._send("GET", "faults", expected=(200,))
        return answer

    def faults_set(self, body: Union[FaultOrder, FaultsSetBodyMembers]) -> Faults:
        """Replaces the armed faults.

        `PUT faults`
        """
        answer: Faults = self._send("PUT", "faults", body=body, expected=(200,))
        return answer

    def faults_clear(self) -> None:
        """Disarms all faults.

        `DELETE faults`
        """
        self._send("DELETE", "faults", expected=(204,))

    def scenarios_list(self, *, rules: Optional[bool] = None) -> Scenarios:
        """The scenarios there are, and those that are active.

        `GET scenarios`
        """
        answer: Scenarios = self._send("GET", "scenarios", query={"rules": rules}, expected=(200,))
        return answer

    def scenarios_set(self, body: Union[ScenarioOrder, ScenariosSetBodyMembers]) -> Scenarios:
        """Replaces the active scenarios; each starts anew.

        `PUT scenarios`
        """
        answer: Scenarios = self._send("PUT", "scenarios", body=body, expected=(200,))
        return answer

    def scenarios_clear(self) -> None:
        """Ends all scenarios.

        `DELETE scenarios`
        """
        self._send("DELETE", "scenarios", expected=(204,))

    def actions_list(self) -> Actions:
        """What can happen to the vendors' states.

        `GET actions`
        """
        answer: Actions = self._send("GET", "actions", expected=(200,))
        return answer

    def state_act(self, vendor: str, action: str, body: Optional[Mapping[str, Any]] = None) -> Any:
        """Lets something happen to a vendor's state.

        `POST state/{vendor}/{action}`
        """
        answer: Any = self._send("POST", f"state/{part(vendor)}/{part(action)}", body=body, expected=(200,))
        return answer

    def sandboxes_list(self, *, replicas: Optional[Literal["this", "all"]] = None) -> Sandboxes:
        """The sandboxes in memory, by name.

        `GET sandboxes`
        """
        answer: Sandboxes = self._send("GET", "sandboxes", query={"replicas": replicas}, expected=(200,))
        return answer

    def sandboxes_set(self, name: str, body: SandboxesSetBody) -> Sandbox:
        """Sets how long a sandbox may lie unused before it goes; makes the sandbox if there is none.

        `PUT sandboxes/{name}`
        """
        answer: Sandbox = self._send("PUT", f"sandboxes/{part(name)}", body=body, expected=(200,))
        return answer

    def sandboxes_delete(self, name: str) -> None:
        """Forgets a sandbox with all it holds; the standard one is reset instead.

        `DELETE sandboxes/{name}`
        """
        self._send("DELETE", f"sandboxes/{part(name)}", expected=(204,))

    def reset(self) -> None:
        """Makes the sandbox as it was when it came into being.

        `POST reset`
        """
        self._send("POST", "reset", expected=(204,))

    def state_get(self, vendor: str) -> Dict[str, Any]:
        """What the vendor remembers in the sandbox: users, addresses and the like, without passwords and keys.

        `GET state/{vendor}`
        """
        answer: Dict[str, Any] = self._send("GET", f"state/{part(vendor)}", expected=(200,))
        return answer

    def state_set(self, vendor: str, body: Mapping[str, Any]) -> Dict[str, Any]:
        """Replaces what the vendor remembers in the sandbox; records that stay keep the secrets that are left out.

        `PUT state/{vendor}`
        """
        answer: Dict[str, Any] = self._send("PUT", f"state/{part(vendor)}", body=body, expected=(200,))
        return answer

    def keys_list(self) -> Keys:
        """The keys that the vendors' issuers publish, and what else is signed with.

        `GET keys`
        """
        answer: Keys = self._send("GET", "keys", expected=(200,))
        return answer

    def keys_drill(self, vendor: str, issuer: str, drill: KeyDrill) -> Issuer:
        """Rotates or breaks the keys of an issuer.

        `POST keys/{vendor}/{issuer}/{drill}`
        """
        answer: Issuer = self._send("POST", f"keys/{part(vendor)}/{part(issuer)}/{part(drill)}", expected=(200,))
        return answer
