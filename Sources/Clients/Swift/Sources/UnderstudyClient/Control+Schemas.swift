// Written by Sources/Clients/generate from the server's OpenAPI document; edits here would be lost.

extension Control {
    /// Why a call is refused.
    public struct Problem: Decodable, Hashable, Sendable {
        /// The refusal.
        public let error: ProblemError
    }

    /// That the server is well, and what it stands in for.
    public struct Health: Decodable, Hashable, Sendable {
        /// “ok”.
        public let status: String
        /// The release.
        public let version: String
        /// The vendors.
        public let vendors: [HealthVendor]
        /// A short text that changes with any fixture file.
        public let fixtures: String
        /// The folders of fixtures that are in force, the topmost first.
        public let layers: [HealthLayer]
        /// How reading the fixtures anew went.
        public let reload: HealthReload
        /// Where sandboxes are kept across restarts; absent without serve --state.
        public let state: HealthState?
        /// The replica's name, where several share a folder.
        public let replica: String?
        /// What of the state file could not be read, and is kept for the next export.
        public let setAside: HealthSetAside

        private enum CodingKeys: String, CodingKey {
            case status
            case version
            case vendors
            case fixtures
            case layers
            case reload
            case state
            case replica
            case setAside = "set_aside"
        }
    }

    /// An OpenAPI document.
    public struct Description: Decodable, Hashable, Sendable {
        /// The version of OpenAPI.
        public let openapi: String
        /// Title and release.
        public let info: [String: JSONValue]
        /// Where the paths begin.
        public let servers: [[String: JSONValue]]
        /// What calls ask for.
        public let security: [[String: JSONValue]]
        /// The calls.
        public let paths: [String: JSONValue]
        /// What the calls share.
        public let components: [String: JSONValue]
    }

    /// What is emulated.
    public struct Vendors: Decodable, Hashable, Sendable {
        /// The vendors.
        public let vendors: [Vendor]
        /// The port at which the vendors are; null when it is this one.
        public let port: Int?
    }

    /// A call that works.
    public struct Sample: Decodable, Hashable, Sendable {
        /// The call; null where the fixtures leave nothing to sign with.
        public let sample: SampleSample?
    }

    /// What a sandbox's clock shows.
    public struct Clock: Decodable, Hashable, Sendable {
        /// The moment by RFC 3339, in UTC with milliseconds.
        public let now: String
        /// The moment in Unix seconds.
        public let unix: Double
        /// Whether the clock stands still.
        public let frozen: Bool
        /// Whether it shows the machine's time.
        public let machineTime: Bool
        /// There when the clock ran to the end of the year 9999 and stopped.
        public let note: String?

        private enum CodingKeys: String, CodingKey {
            case now
            case unix
            case frozen
            case machineTime = "machine_time"
            case note
        }
    }

    /// What becomes of the clock: it is frozen first, then set, then moved, then released.
    public struct ClockChange: Encodable, Hashable, Sendable {
        /// The moment to show; null for the machine's time.
        public var now: JSONValue?
        /// A number and its unit: “250ms”, “90s”, “31m”, “2h”, “1d”; at most a thousand years.
        public var advance: String?
        /// Whether the clock shall stand still.
        public var freeze: Bool?

        /// With these members; what is left out is not said.
        public init(now: JSONValue? = nil, advance: String? = nil, freeze: Bool? = nil) {
            self.now = now
            self.advance = advance
            self.freeze = freeze
        }
    }

    /// One check of a token or a request, and how it came out.
    public struct Finding: Decodable, Hashable, Sendable {
        /// The check's stable name.
        public let check: String
        /// How it came out.
        public let outcome: FindingOutcome
        /// What the rule asks for.
        public let expected: JSONValue?
        /// What is there; null when nothing is.
        public let found: JSONValue?
        /// Why it matters, or what to do.
        public let note: String?
        /// Which document says so.
        public let source: String?
    }

    /// A request as the journal shows it.
    public struct RecordedRequest: Decodable, Hashable, Sendable {
        /// The method.
        public let method: String
        /// Path and query as they were sent, tokens masked, without the sandbox's prefix.
        public let target: String
        /// The field lines in order, each a name and a value; credentials are masked.
        public let headers: [[String]]
        /// JSON as JSON, text as a string, other bytes as their number; null when empty. Secrets are masked.
        public let body: JSONValue
    }

    /// A message of a WebSocket as the journal shows it.
    public struct RecordedFrame: Decodable, Hashable, Sendable {
        /// Who sent it.
        public let from: RecordedFrameFrom
        /// The moment by the sandbox's clock, by RFC 3339.
        public let at: String
        /// JSON as JSON, text as a string; the number of bytes of others and of long ones. Secrets are masked.
        public let message: JSONValue
        /// What the vendor remarked on it.
        public let findings: [Finding]
        /// The number of the entry whose call the server sent it for; null for greetings, echoes, actions and
        /// deadlines.
        public let cause: Int?
    }

    /// What passed through the WebSocket that an exchange opened.
    public struct RecordedSocket: Decodable, Hashable, Sendable {
        /// How many messages the client sent.
        public let received: Int
        /// How many messages the server sent.
        public let sent: Int
        /// How it ended; null while it has not.
        public let closed: RecordedSocketClosed?
        /// What the vendor remarked on its opening and its end.
        public let findings: [Finding]
        /// The newest messages in order, as many as there is room for.
        public let frames: [RecordedFrame]
    }

    /// One exchange, and why it came out as it did.
    public struct JournalEntry: Decodable, Hashable, Sendable {
        /// The entry's number in its sandbox.
        public let id: Int
        /// The sandbox.
        public let sandbox: String
        /// The moment by the sandbox's clock, by RFC 3339.
        public let at: String
        /// The vendor's id; null when nobody owns the path.
        public let vendor: String?
        /// The route's id; null when there is none at the path.
        public let route: String?
        /// The status code.
        public let status: Int
        /// The failure's name; null when the call succeeded.
        public let failure: String?
        /// What led to the failure, in one line.
        public let reason: String?
        /// What the accepted call was remarked on, in one line.
        public let note: String?
        /// What influenced the answer.
        public let intervention: JSONValue?
        /// Says of an entry that the server itself sent the request.
        public let kind: String?
        /// The address that the server asked, tokens masked.
        public let url: String?
        /// The routes that come closest to a request that found none, such as “VENDOR ROUTE: GET /path”.
        public let nearestRoutes: [String]?
        /// Every check, in the vendor's order.
        public let findings: [Finding]
        /// A request as the journal shows it.
        public let request: RecordedRequest
        /// The response.
        public let response: JournalEntryResponse
        /// The orders of the request that were refused each by itself.
        public let parts: JournalEntryParts?
        /// What passed through the WebSocket that an exchange opened.
        public let socket: RecordedSocket?
        /// The replica that answered, where several share a folder.
        public let replica: String?

        private enum CodingKeys: String, CodingKey {
            case id
            case sandbox
            case at
            case vendor
            case route
            case status
            case failure
            case reason
            case note
            case intervention
            case kind
            case url
            case nearestRoutes = "nearest_routes"
            case findings
            case request
            case response
            case parts
            case socket
            case replica
        }
    }

    /// Entries of a sandbox's journal.
    public struct Journal: Decodable, Hashable, Sendable {
        /// The sandbox.
        public let sandbox: String
        /// The replica that answered, where several share a folder.
        public let replica: String?
        /// The entries, the oldest first.
        public let entries: [JournalEntry]
    }

    /// What a list shows of an exchange; the members mean what they mean in the whole entry.
    public struct BriefEntry: Decodable, Hashable, Sendable {
        /// The entry's number in its sandbox.
        public let id: Int
        /// The moment by the sandbox's clock, by RFC 3339.
        public let at: String
        /// The vendor's id.
        public let vendor: String?
        /// The route's id.
        public let route: String?
        /// The status code.
        public let status: Int
        /// The failure's name.
        public let failure: String?
        /// What led to the failure, in one line.
        public let reason: String?
        /// The method.
        public let method: String
        /// Path and query, tokens masked, without the sandbox's prefix.
        public let target: String
        /// What the accepted call was remarked on, in one line.
        public let note: String?
        /// What influenced the answer.
        public let intervention: JSONValue?
        /// Says of an entry that the server itself sent the request.
        public let kind: String?
        /// The routes that come closest to a request that found none, such as “VENDOR ROUTE: GET /path”.
        public let nearestRoutes: [String]?

        private enum CodingKeys: String, CodingKey {
            case id
            case at
            case vendor
            case route
            case status
            case failure
            case reason
            case method
            case target
            case note
            case intervention
            case kind
            case nearestRoutes = "nearest_routes"
        }
    }

    /// Entries of a sandbox's journal, in brief.
    public struct BriefJournal: Decodable, Hashable, Sendable {
        /// The sandbox.
        public let sandbox: String
        /// The replica that answered, where several share a folder.
        public let replica: String?
        /// The number of the newest entry, whatever the filter; 0 without any.
        public let newest: Int
        /// The entries, the oldest first.
        public let entries: [BriefEntry]
    }

    /// Exchanges as HTTP Archive 1.2.
    public struct HTTPArchive: Decodable, Hashable, Sendable {
        /// Its version, who made it, and the exchanges.
        public let log: [String: JSONValue]
    }

    /// How a sandbox wants the vendors to behave.
    public struct Settings: Decodable, Hashable, Sendable {
        /// Whether the vendors behave as their documents say or as their clients show.
        public let profile: Profile
        /// Profiles of single vendors, by id.
        public let vendorProfiles: [String: Profile]
        /// What makes ids repeatable; null when they are not.
        public let seed: Int?
        /// The values of all switches, by VENDOR.SWITCH.
        public let switches: [String: String]

        private enum CodingKeys: String, CodingKey {
            case profile
            case vendorProfiles = "vendor_profiles"
            case seed
            case switches
        }
    }

    /// What becomes of the settings; what is not named stays.
    public struct SettingsChange: Encodable, Hashable, Sendable {
        /// The profile of all vendors, or those of single ones by id; null takes one back.
        public var profile: JSONValue?
        /// Values by VENDOR.SWITCH; null leaves a switch to the profile.
        public var switches: [String: JSONValue]?
        /// What makes ids repeatable; null makes them unpredictable.
        public var seed: JSONValue?

        /// With these members; what is left out is not said.
        public init(profile: JSONValue? = nil, switches: [String: JSONValue]? = nil, seed: JSONValue? = nil) {
            self.profile = profile
            self.switches = switches
            self.seed = seed
        }
    }

    /// What an exchange must be like; all parts must hold.
    public struct ExchangeCondition: Codable, Hashable, Sendable {
        /// What a value must be: equal to this one, or all that the words of an object say.
        public var method: JSONValue?
        /// What a value must be: equal to this one, or all that the words of an object say.
        public var path: JSONValue?
        /// By parameter of the query.
        public var query: [String: JSONValue]?
        /// By name, in any case.
        public var header: [String: JSONValue]?
        /// By field of a form.
        public var form: [String: JSONValue]?
        /// By member of a JSON body, or JSONPath.
        public var body: [String: JSONValue]?
        /// By claim, or JSONPath.
        public var claims: [String: JSONValue]?
        /// What a value must be: equal to this one, or all that the words of an object say.
        public var tokenAge: JSONValue?
        /// What a value must be: equal to this one, or all that the words of an object say.
        public var tokenLeft: JSONValue?
        /// What a value must be: equal to this one, or all that the words of an object say.
        public var reason: JSONValue?

        /// With these members; what is left out is not said.
        public init(
            method: JSONValue? = nil, path: JSONValue? = nil, query: [String: JSONValue]? = nil,
            header: [String: JSONValue]? = nil, form: [String: JSONValue]? = nil, body: [String: JSONValue]? = nil,
            claims: [String: JSONValue]? = nil, tokenAge: JSONValue? = nil, tokenLeft: JSONValue? = nil,
            reason: JSONValue? = nil
        ) {
            self.method = method
            self.path = path
            self.query = query
            self.header = header
            self.form = form
            self.body = body
            self.claims = claims
            self.tokenAge = tokenAge
            self.tokenLeft = tokenLeft
            self.reason = reason
        }

        private enum CodingKeys: String, CodingKey {
            case method
            case path
            case query
            case header
            case form
            case body
            case claims
            case tokenAge = "token_age"
            case tokenLeft = "token_left"
            case reason
        }
    }

    /// A response in place of the vendor's; strings in it may be templates.
    public struct OwnResponse: Codable, Hashable, Sendable {
        /// The status code; 200.
        public var status: Int?
        /// Field values by name.
        public var headers: [String: String]?
        /// A text, or JSON.
        public var body: JSONValue?

        /// With these members; what is left out is not said.
        public init(status: Int? = nil, headers: [String: String]? = nil, body: JSONValue? = nil) {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    /// A fault as it was ordered, and what it has seen.
    public struct Fault: Decodable, Hashable, Sendable {
        /// The vendor's id; the one that has the route.
        public let vendor: String
        /// A route's id, with * all that fit, or a list of such; without it every route of the vendor.
        public let route: JSONValue?
        /// What an exchange must be like; all parts must hold.
        public let when: ExchangeCondition?
        /// How often it strikes; once, or always where every or probability say which calls.
        public let times: JSONValue?
        /// The call of that number from now on is hit.
        public let call: Int?
        /// Every so manieth call is hit.
        public let every: Int?
        /// Each call is hit with that probability.
        public let probability: Double?
        /// What the probability is drawn from.
        public let seed: Int?
        /// The name of the failure of the vendor that is answered.
        public let fail: String?
        /// What the failure's body is filled with.
        public let parameters: [String: JSONValue]?
        /// A response in place of the vendor's; strings in it may be templates.
        public let respond: OwnResponse?
        /// An action of the vendor: its name, or one name with its members.
        public let `do`: JSONValue?
        /// What goes wrong on the wire; a delay may stand beside one of the others.
        public let fault: JSONValue?
        /// How many calls it was for.
        public let calls: Int
        /// How often it struck.
        public let strikes: Int
    }

    /// A fault to arm. It names a route or a vendor, says what happens, and of call, every and probability at most
    /// one.
    public struct FaultOrder: Encodable, Hashable, Sendable {
        /// The vendor's id; the one that has the route.
        public var vendor: String?
        /// A route's id, with * all that fit, or a list of such; without it every route of the vendor.
        public var route: JSONValue?
        /// What an exchange must be like; all parts must hold.
        public var when: ExchangeCondition?
        /// How often it strikes; once, or always where every or probability say which calls.
        public var times: JSONValue?
        /// The call of that number from now on is hit.
        public var call: Int?
        /// Every so manieth call is hit.
        public var every: Int?
        /// Each call is hit with that probability.
        public var probability: Double?
        /// What the probability is drawn from.
        public var seed: Int?
        /// The name of the failure of the vendor that is answered.
        public var fail: String?
        /// What the failure's body is filled with.
        public var parameters: [String: JSONValue]?
        /// A response in place of the vendor's; strings in it may be templates.
        public var respond: OwnResponse?
        /// An action of the vendor: its name, or one name with its members.
        public var `do`: JSONValue?
        /// What goes wrong on the wire; a delay may stand beside one of the others.
        public var fault: JSONValue?

        /// With these members; what is left out is not said.
        public init(
            vendor: String? = nil, route: JSONValue? = nil, when: ExchangeCondition? = nil, times: JSONValue? = nil,
            call: Int? = nil, every: Int? = nil, probability: Double? = nil, seed: Int? = nil, fail: String? = nil,
            parameters: [String: JSONValue]? = nil, respond: OwnResponse? = nil, `do`: JSONValue? = nil,
            fault: JSONValue? = nil
        ) {
            self.vendor = vendor
            self.route = route
            self.when = when
            self.times = times
            self.call = call
            self.every = every
            self.probability = probability
            self.seed = seed
            self.fail = fail
            self.parameters = parameters
            self.respond = respond
            self.`do` = `do`
            self.fault = fault
        }
    }

    /// The armed faults.
    public struct Faults: Decodable, Hashable, Sendable {
        /// The armed faults.
        public let faults: [Fault]
    }

    /// The scenarios there are, and those that are active.
    public struct Scenarios: Decodable, Hashable, Sendable {
        /// The active ones, the first one first.
        public let active: [ScenariosActive]
        /// All of them.
        public let available: [ScenariosAvailable]
    }

    /// A scenario to activate.
    public struct ScenarioOrder: Encodable, Hashable, Sendable {
        /// Its name.
        public var scenario: String
        /// The state to start in; the first one.
        public var state: String?

        /// With these members; what is left out is not said.
        public init(scenario: String, state: String? = nil) {
            self.scenario = scenario
            self.state = state
        }
    }

    /// What can happen to the vendors' states.
    public struct Actions: Decodable, Hashable, Sendable {
        /// The actions.
        public let actions: [Action]
    }

    /// How many exchanges of some kind the journal shall hold.
    public struct Expectation: Encodable, Hashable, Sendable {
        /// The fewest; 1 where nothing is said.
        public var atLeast: Int?
        /// The most.
        public var atMost: Int?
        /// Neither more nor fewer, instead of the two others.
        public var exactly: Int?
        /// What they must be like; all parts must hold. Further members are the names of notes that a vendor makes.
        public var `where`: [String: JSONValue]?

        /// With these members; what is left out is not said.
        public init(atLeast: Int? = nil, atMost: Int? = nil, exactly: Int? = nil, `where`: [String: JSONValue]? = nil) {
            self.atLeast = atLeast
            self.atMost = atMost
            self.exactly = exactly
            self.`where` = `where`
        }

        private enum CodingKeys: String, CodingKey {
            case atLeast = "at_least"
            case atMost = "at_most"
            case exactly
            case `where`
        }
    }

    /// The expectation holds.
    public struct Fulfilled: Decodable, Hashable, Sendable {
        /// Its verified.
        public let verified: Bool
        /// How many there are.
        public let count: Int
        /// Their numbers.
        public let entries: [Int]
    }

    /// The expectation does not hold.
    public struct Unfulfilled: Decodable, Hashable, Sendable {
        /// Its verified.
        public let verified: Bool
        /// How many there are.
        public let count: Int
        /// The bounds, such as “exactly 1”.
        public let expected: String
        /// What was expected and found, and the nearest exchange, in one line.
        public let message: String
        /// Those that miss fewest parts, or those that are too many; the latest first, five at most.
        public let nearest: [UnfulfilledNearest]
    }

    /// The kinds of token that can be minted.
    public struct TokenKinds: Decodable, Hashable, Sendable {
        /// The kinds.
        public let kinds: [TokenKindsKind]
    }

    /// A token.
    public struct MintedToken: Decodable, Hashable, Sendable {
        /// The token.
        public let token: String
        /// The header that it holds.
        public let header: [String: JSONValue]
        /// The claims that it holds.
        public let claims: [String: JSONValue]
    }

    /// The token that is to be explained.
    public struct ExplainOrder: Encodable, Hashable, Sendable {
        /// The token.
        public var token: String
        /// The only vendor to be asked, by id.
        public var vendor: String?
        /// What is known of the request that carries it; vendors name the members.
        public var request: [String: JSONValue]?

        /// With these members; what is left out is not said.
        public init(token: String, vendor: String? = nil, request: [String: JSONValue]? = nil) {
            self.token = token
            self.vendor = vendor
            self.request = request
        }
    }

    /// What the vendors would answer.
    public struct Verdicts: Decodable, Hashable, Sendable {
        /// One for each vendor that was asked.
        public let verdicts: [Verdict]
    }

    /// What the vendors' tokens are signed with.
    public struct Keys: Decodable, Hashable, Sendable {
        /// The issuers that publish keys.
        public let issuers: [Issuer]
        /// The keys that are published elsewhere, as this sandbox has them.
        public let fetched: [KeysFetched]
        /// The secrets that are shared with those who sign; never themselves.
        public let secrets: [KeysSecret]
    }

    /// An issuer with the keys that it publishes.
    public struct Issuer: Decodable, Hashable, Sendable {
        /// The vendor's id.
        public let vendor: String
        /// The issuer's name.
        public let issuer: String
        /// What the keys sign with.
        public let algorithm: String
        /// Whether asking for the keys is answered by an error.
        public let broken: Bool
        /// How often the keys were asked for.
        public let fetches: Int
        /// The published keys, the one that signs first.
        public let keys: [IssuerKey]
    }

    /// A sandbox.
    public struct Sandbox: Decodable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// When it came into being, by the machine's clock.
        public let createdAt: String
        /// How long it has been there.
        public let ageSeconds: Int
        /// How long nobody has used it.
        public let idleSeconds: Int
        /// How long it may lie unused; null: for as long as there is room.
        public let ttlSeconds: Double?
        /// When it goes, if nobody uses it until then; null: while a socket is open, never.
        public let expiresInSeconds: Double?
        /// Whether it shows the machine's time, runs beside it, or stands still.
        public let clock: SandboxClock
        /// What its clock shows.
        public let now: String
        /// The seed of ids and times.
        public let seed: Int?
        /// How many exchanges it has seen.
        public let exchanges: Int
        /// How many WebSockets are open.
        public let sockets: Int
        /// How many entries its journal keeps.
        public let journalEntries: Int
        /// An estimate of the memory they take.
        public let journalBytes: Int
        /// The replica that has it, where several share a folder.
        public let replica: String?

        private enum CodingKeys: String, CodingKey {
            case name
            case createdAt = "created_at"
            case ageSeconds = "age_seconds"
            case idleSeconds = "idle_seconds"
            case ttlSeconds = "ttl_seconds"
            case expiresInSeconds = "expires_in_seconds"
            case clock
            case now
            case seed
            case exchanges
            case sockets
            case journalEntries = "journal_entries"
            case journalBytes = "journal_bytes"
            case replica
        }
    }

    /// The sandboxes.
    public struct Sandboxes: Decodable, Hashable, Sendable {
        /// The standard one first, then the others by name.
        public let sandboxes: [Sandbox]
        /// The replica that answers, where several share a folder.
        public let replica: String?
        /// The replicas that were asked, this one first.
        public let replicas: [SandboxesReplica]?
    }

    /// That the process runs.
    public struct Liveness: Decodable, Hashable, Sendable {
        /// “ok”.
        public let status: String
    }

    /// Whether the server takes requests.
    public struct Readiness: Decodable, Hashable, Sendable {
        /// Whether it does.
        public let ready: Bool
        /// The replica's name; null for a server alone.
        public let replica: String?
        /// Why it does not; null when it does.
        public let reason: String?
    }

    /// The refusal.
    public struct ProblemError: Decodable, Hashable, Sendable {
        /// A stable name.
        public let code: String
        /// What was found and what would be right.
        public let message: String
    }

    /// A vendor.
    public struct HealthVendor: Decodable, Hashable, Sendable {
        /// The name that files, flags and calls use.
        public let id: String
        /// The name for people.
        public let title: String
        /// How many routes it has.
        public let routes: Int
        /// How many failures it has.
        public let failures: Int
    }

    /// A folder of fixtures.
    public struct HealthLayer: Decodable, Hashable, Sendable {
        /// The folder, from the root of the file system.
        public let folder: String
        /// Files that look like fixtures and are read by nobody, each with a hint.
        public let unread: [String]
    }

    /// How reading the fixtures anew went.
    public struct HealthReload: Decodable, Hashable, Sendable {
        /// Whether changed files are taken over while it runs.
        public let watching: Bool
        /// How often fixtures were replaced.
        public let count: Int
        /// When that was last, by the machine's clock.
        public let at: String?
        /// Why the files as they stand are not in force; null when they are.
        public let problem: String?
    }

    /// Where sandboxes are kept across restarts; absent without serve --state.
    public struct HealthState: Decodable, Hashable, Sendable {
        /// The folder.
        public let folder: String
        /// Why sandboxes are not written there now; null when all are.
        public let problem: String?
    }

    /// A part.
    public struct HealthSetAsidePart: Decodable, Hashable, Sendable {
        /// The sandbox, if its name could be read.
        public let sandbox: String?
        /// The vendor; null for the whole sandbox.
        public let vendor: String?
        /// Where in the vendor's state; empty for all of it.
        public let record: String
        /// What was found, and what would be right.
        public let problem: String
    }

    /// What of the state file could not be read, and is kept for the next export.
    public struct HealthSetAside: Decodable, Hashable, Sendable {
        /// How many parts.
        public let count: Int
        /// The first of them.
        public let parts: [HealthSetAsidePart]
    }

    /// A method and path.
    public struct VendorRoute: Decodable, Hashable, Sendable {
        /// The route's id, which several may share.
        public let route: String
        /// The method.
        public let method: String
        /// The path, parameters in braces.
        public let path: String
        /// Where it is known from: documented by the vendor, observed in its clients, inferred from those, or ours.
        public let evidence: Evidence
        /// The source in words.
        public let source: String
    }

    /// A failure.
    public struct VendorFailure: Decodable, Hashable, Sendable {
        /// Its name.
        public let failure: String
        /// The status code.
        public let status: Int
        /// When it is answered.
        public let about: String
        /// Where it is known from: documented by the vendor, observed in its clients, inferred from those, or ours.
        public let evidence: Evidence
        /// The source in words.
        public let source: String
        /// The vendor's other failures that look the same on the wire.
        public let lookalikes: [String]
    }

    /// A switch.
    public struct VendorSwitch: Decodable, Hashable, Sendable {
        /// Its name without the vendor.
        public let name: String
        /// What it decides.
        public let about: String
        /// Its value in profile documented.
        public let documented: String
        /// Its value in profile observed.
        public let observed: String
        /// What it can be set to, in words.
        public let values: String
        /// The words it can be set to, if only some can.
        public let choices: [String]?
        /// The source in words.
        public let source: String
    }

    /// A fact.
    public struct VendorRequestFact: Decodable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// What it is.
        public let about: String
    }

    /// A value.
    public struct VendorSample: Decodable, Hashable, Sendable {
        /// What it is.
        public let label: String
        /// The value.
        public let value: String
    }

    /// A vendor.
    public struct Vendor: Decodable, Hashable, Sendable {
        /// The name that files, flags and calls use.
        public let id: String
        /// The name for people.
        public let title: String
        /// Each method and path.
        public let routes: [VendorRoute]
        /// How its calls can fail.
        public let failures: [VendorFailure]
        /// Differences that can be chosen.
        public let switches: [VendorSwitch]
        /// What explaining a token may want to know of its request.
        public let requestFacts: [VendorRequestFact]
        /// Ids and public keys of the sample accounts.
        public let samples: [VendorSample]

        private enum CodingKeys: String, CodingKey {
            case id
            case title
            case routes
            case failures
            case switches
            case requestFacts = "request_facts"
            case samples
        }
    }

    /// The call; null where the fixtures leave nothing to sign with.
    public struct SampleSample: Decodable, Hashable, Sendable {
        /// The method.
        public let method: String
        /// The path.
        public let path: String
        /// The fields, each a name and a value.
        public let headers: [[String]]
        /// The content; may be empty.
        public let body: String
    }

    /// How it ended; null while it has not.
    public struct RecordedSocketClosed: Decodable, Hashable, Sendable {
        /// The close code of RFC 6455.
        public let code: Int
        /// The reason.
        public let reason: String
        /// The moment by the sandbox's clock, by RFC 3339.
        public let at: String
    }

    /// The response.
    public struct JournalEntryResponse: Decodable, Hashable, Sendable {
        /// The status code.
        public let status: Int
        /// The field lines in order, each a name and a value; credentials are masked.
        public let headers: [[String]]
        /// JSON as JSON, text as a string, other bytes as their number; null when empty. Secrets are masked.
        public let body: JSONValue
    }

    /// An order that was refused while the request was answered.
    public struct JournalEntryPartsFirst: Decodable, Hashable, Sendable {
        /// Which of the orders.
        public let number: Int
        /// What it asks for, in the vendor's words.
        public let name: String
        /// The failure's name.
        public let failure: String
        /// What led to the failure, in one line.
        public let reason: String?
        /// Every check that was made for it.
        public let findings: [Finding]
    }

    /// The orders of the request that were refused each by itself.
    public struct JournalEntryParts: Decodable, Hashable, Sendable {
        /// How many there were.
        public let refused: Int
        /// The first hundred of them.
        public let first: [JournalEntryPartsFirst]
    }

    /// An active scenario.
    public struct ScenariosActive: Decodable, Hashable, Sendable {
        /// Its name.
        public let scenario: String
        /// The vendor's id.
        public let vendor: String
        /// The state it is in.
        public let state: String
        /// How many calls each rule of the state has seen.
        public let calls: [Int]
    }

    /// A rule, in words.
    public struct ScenariosAvailableRule: Decodable, Hashable, Sendable {
        /// The state it belongs to.
        public let state: String
        /// The ids of the routes that it is for.
        public let routes: [String]
        /// Which of the calls there, such as “call 3”.
        public let calls: String
        /// What else is asked of the call; null for nothing.
        public let when: String?
        /// What it does; empty when calls pass.
        public let effect: String
        /// The state that comes next; null to stay.
        public let go: String?
    }

    /// A scenario.
    public struct ScenariosAvailable: Decodable, Hashable, Sendable {
        /// Its name.
        public let scenario: String
        /// The vendor's id.
        public let vendor: String
        /// What it shows.
        public let about: String
        /// Its states, the first one first.
        public let states: [String]
        /// The rules of its states, where they were asked for.
        public let rules: [ScenariosAvailableRule]?
    }

    /// A member.
    public struct ActionMember: Decodable, Hashable, Sendable {
        /// Its name.
        public let name: String
        /// What it means.
        public let about: String
        /// Whether it must be there.
        public let required: Bool
    }

    /// An action.
    public struct Action: Decodable, Hashable, Sendable {
        /// The vendor's id.
        public let vendor: String
        /// Its name.
        public let action: String
        /// What it does.
        public let about: String
        /// What it has to be told.
        public let members: [ActionMember]
    }

    /// A part.
    public struct UnfulfilledNearestMissed: Decodable, Hashable, Sendable {
        /// Which part, such as “body $.email”.
        public let condition: String
        /// What it demands.
        public let expected: String
        /// What is there, secrets masked; null when nothing is.
        public let found: String?
    }

    /// An exchange that comes close.
    public struct UnfulfilledNearest: Decodable, Hashable, Sendable {
        /// The entry's number.
        public let id: Int
        /// What was asked, and what came of it.
        public let summary: String
        /// The route's id; null when there was none.
        public let route: String?
        /// Why it was refused; null when it was not.
        public let reason: String?
        /// The parts that it misses; none of one that is too many.
        public let missed: [UnfulfilledNearestMissed]
        /// The routes that come closest to a request that found none, such as “VENDOR ROUTE: GET /path”.
        public let nearestRoutes: [String]?

        private enum CodingKeys: String, CodingKey {
            case id
            case summary
            case route
            case reason
            case missed
            case nearestRoutes = "nearest_routes"
        }
    }

    /// A kind of token.
    public struct TokenKindsKind: Decodable, Hashable, Sendable {
        /// The vendor's id.
        public let vendor: String
        /// The kind's name.
        public let kind: String
        /// What it is for.
        public let about: String
        /// Members that an order may have besides header, claims and defect.
        public let members: [String: String]
        /// The defects that it can have.
        public let defects: [String]
    }

    /// The response to a request that carries the token; null when the token alone does not decide it.
    public struct VerdictAnswer: Decodable, Hashable, Sendable {
        /// The status code.
        public let status: Int
        /// The body, as JSON where it is JSON.
        public let body: JSONValue
    }

    /// What a client would do with the token before it sends it.
    public struct VerdictClient: Decodable, Hashable, Sendable {
        /// The name of the client's rules.
        public let client: String
        /// Whether it would send the token.
        public let usable: Bool
        /// The result in the client's own terms.
        public let result: [String: JSONValue]
        /// Every check.
        public let findings: [Finding]
    }

    /// What a vendor would answer.
    public struct Verdict: Decodable, Hashable, Sendable {
        /// The vendor's id.
        public let vendor: String
        /// What the vendor takes the token for.
        public let kind: String?
        /// The account whose key fits.
        public let account: String?
        /// Whether nothing that could be judged speaks against it.
        public let accepted: Bool
        /// The failure's name.
        public let failure: String?
        /// Why it would be refused, in one line.
        public let reason: String?
        /// The response to a request that carries the token; null when the token alone does not decide it.
        public let answer: VerdictAnswer?
        /// Every check.
        public let findings: [Finding]
        /// What the vendor's clients would do with it.
        public let clients: [VerdictClient]
    }

    /// The keys that an issuer publishes at a URL.
    public struct KeysFetched: Decodable, Hashable, Sendable {
        /// The vendor's id.
        public let vendor: String
        /// The issuer's name.
        public let issuer: String
        /// Where they are published; {self} is this server.
        public let url: String
        /// The names of the usable keys.
        public let kids: [String?]
        /// How often the URL was asked.
        public let fetches: Int
        /// When the keys came, in Unix seconds.
        public let fetchedAt: Int?
        /// When they are to be asked for anew, in Unix seconds.
        public let expiresAt: Int?
        /// Why the last attempt brought none.
        public let problem: String?

        private enum CodingKeys: String, CodingKey {
            case vendor
            case issuer
            case url
            case kids
            case fetches
            case fetchedAt = "fetched_at"
            case expiresAt = "expires_at"
            case problem
        }
    }

    /// A secret.
    public struct KeysSecret: Decodable, Hashable, Sendable {
        /// The vendor's id.
        public let vendor: String
        /// Whose it is.
        public let owner: String
        /// What it signs with.
        public let algorithm: String
        /// How many bytes it has.
        public let bytes: Int
    }

    /// A key.
    public struct IssuerKey: Decodable, Hashable, Sendable {
        /// Its name.
        public let kid: String?
        /// What it is for.
        public let role: IssuerKeyRole
        /// The public key (RFC 7517).
        public let jwk: JSONValue
    }

    /// A replica.
    public struct SandboxesReplica: Decodable, Hashable, Sendable {
        /// Its name; null for one that did not answer.
        public let name: String?
        /// Where it was asked; null for the one that answers.
        public let base: String?
        /// Why it did not answer; null when it did.
        public let problem: String?
    }

    /// Several faults.
    public struct FaultsSetBodyMembers: Encodable, Hashable, Sendable {
        /// All faults that are to be armed.
        public var faults: [FaultOrder]

        /// With these members.
        public init(faults: [FaultOrder]) {
            self.faults = faults
        }
    }

    /// Several scenarios.
    public struct ScenariosSetBodyMembers: Encodable, Hashable, Sendable {
        /// All that are to be active, each once.
        public var scenarios: [JSONValue]

        /// With these members.
        public init(scenarios: [JSONValue]) {
            self.scenarios = scenarios
        }
    }

    /// A time to live.
    public struct SandboxesSetBody: Encodable, Hashable, Sendable {
        /// A number and its unit: “250ms”, “90s”, “31m”, “2h”, “1d”; at most a thousand years.
        public var ttl: String?

        /// With these members.
        public init(ttl: String?) {
            self.ttl = ttl
        }

        private enum CodingKeys: String, CodingKey {
            case ttl
        }

        /// Also says what is null.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(ttl, forKey: .ttl)
        }
    }

    /// One of these words.
    public enum Evidence: String, Codable, Hashable, Sendable, CaseIterable {
        /// `documented`.
        case documented
        /// `observed`.
        case observed
        /// `inferred`.
        case inferred
        /// `ours`.
        case ours
    }

    /// One of these words.
    public enum JournalListKind: String, Codable, Hashable, Sendable, CaseIterable {
        /// `incoming`.
        case incoming
        /// `outgoing`.
        case outgoing
    }

    /// One of these words.
    public enum Format: String, Codable, Hashable, Sendable, CaseIterable {
        /// `json`.
        case json
        /// `brief`.
        case brief
        /// `har`.
        case har
        /// `hurl`.
        case hurl
    }

    /// One of these words.
    public enum FindingOutcome: String, Codable, Hashable, Sendable, CaseIterable {
        /// `passed`.
        case passed
        /// `failed`.
        case failed
        /// `noted`.
        case noted
        /// `not-judged`.
        case notJudged = "not-judged"
    }

    /// One of these words.
    public enum RecordedFrameFrom: String, Codable, Hashable, Sendable, CaseIterable {
        /// `client`.
        case client
        /// `server`.
        case server
    }

    /// Whether the vendors behave as their documents say or as their clients show.
    public enum Profile: String, Codable, Hashable, Sendable, CaseIterable {
        /// `documented`.
        case documented
        /// `observed`.
        case observed
    }

    /// One of these words.
    public enum SandboxesListReplicas: String, Codable, Hashable, Sendable, CaseIterable {
        /// `this`.
        case this
        /// `all`.
        case all
    }

    /// One of these words.
    public enum SandboxClock: String, Codable, Hashable, Sendable, CaseIterable {
        /// `machine`.
        case machine
        /// `moved`.
        case moved
        /// `frozen`.
        case frozen
    }

    /// One of these words.
    public enum IssuerKeyRole: String, Codable, Hashable, Sendable, CaseIterable {
        /// `signing`.
        case signing
        /// `next`.
        case next
        /// `old`.
        case old
    }

    /// overlap: Another key signs; the old one stays published. retire: The old key leaves the published set.
    /// replace: Another key signs, and the old ones leave at once. same-kid: Another key signs under the name of the
    /// old one. break: Requests for the published keys get an error. repair: Requests for the published keys get the
    /// keys again.
    public enum KeyDrill: String, Codable, Hashable, Sendable, CaseIterable {
        /// `overlap`.
        case overlap
        /// `retire`.
        case retire
        /// `replace`.
        case replace
        /// `same-kid`.
        case sameKid = "same-kid"
        /// `break`.
        case `break`
        /// `repair`.
        case repair
    }
}
