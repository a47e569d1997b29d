import Contracts
import Emulation
import Expectations
import Foundation
import HTTPTypes
import JSON
import Support
import Synchronization
import Testing
import Tokens
import Understudy

struct ObservedRefusal: Hashable, CustomStringConvertible {
    let vendor: String
    let failure: String
    let reason: String?
    let isArmed: Bool
    let status: Int
    /// What it changed in the vendor's state, by member.
    let changes: [String: String]

    var name: String { "\(vendor) \(failure)" }

    var faults: [String] { reason.map { ReasonForm.faults(in: $0, isArmed: isArmed) } ?? ["none"] }

    var description: String { "\(vendor) \(failure): \(reason ?? "no reason")" }
}

struct Occurrences: Sendable {
    var routes: Set<String> = []
    var failures: Set<String> = []
    var refusals: Set<ObservedRefusal> = []
    /// The entries of a seeded server, as the journal shows them.
    var shown: [JSON] = []
    /// The failure and reason of each refusal, and each note, in their order.
    var reasons: [String] = []
    /// The outcomes of checks, each behind its vendor and its check.
    var outcomes: Set<String> = []
    /// What was read of requests, and the remarks on what was not.
    var readings: [ObservedReading] = []
    var unread: [String] = []
    /// The route of each call in turn, unless it was refused, and whether its answer has content.
    var accepted: [(route: String?, hasContent: Bool)] = []
    /// The first refusal of each failure, unless it was armed.
    var recorded: [String: RecordedRefusal] = [:]
}

extension Stage {
    /// Two servers that start alike; ids are each sandbox's own, so all files can share them.
    static let seeded: [Result<Stage, any Error>] = (0..<2).map { _ in
        Result {
            var settings = Settings()
            settings.seed = 7
            settings.describesReading = true
            return try Stage(Emulator(fixtures: Repository.fixtures, settings: settings))
        }
    }

    var isSeeded: Bool { emulator.sandboxes.standard.identity.isSeeded }
}

extension World {
    /// The sandbox of a file's cases, which has the same name, and so the same ids, on each seeded server.
    static func seeded(for file: ContractFile, _ depth: Depth = .pipeline, on stage: Stage) async throws -> World {
        try await World(depth, on: stage, at: nil).named(
            file.description.map { $0.isLetter ? String($0) : "-" }.joined())
    }
}

struct ContractRun: Sendable {
    let result: ContractResult
    /// The routes and failures that occurred, read after every exchange, since a file may clear the journal.
    let occurrences: Occurrences
    let world: World

    private static let known = Mutex<[String: Task<ContractRun, any Error>]>([:])

    /// The run of a file without a socket, played once and judged by several tests.
    static func once(_ file: ContractFile) async throws -> ContractRun {
        let run = known.withLock { known in
            if let run = known[file.description] { return run }
            let run = Task {
                let world = try await World.seeded(for: file, on: Stage.seeded[0].get())
                return try await ContractRun(file, in: world, comparesStates: true)
            }
            known[file.description] = run
            return run
        }
        return try await run.value
    }

    /// What occurs in the files of a vendor, or of all.
    static func occurrences(of vendor: String? = nil) async throws -> [Occurrences] {
        var all: [Occurrences] = []
        for file in ContractFile.all where file.vendor == vendor ?? file.vendor {
            all.append(try await once(file).occurrences)
        }
        return all
    }

    init(_ file: ContractFile, _ depth: Depth, on stage: Stage? = nil) async throws {
        try await self.init(file, in: World(depth, on: stage, at: nil))
    }

    /// - Parameter comparesStates: whether to note what a refusal changes in the state of the file's vendor.
    init(_ file: ContractFile, in world: World, comparesStates: Bool = false) async throws {
        self.world = world
        let vendor = world.emulator.vendors.firstIndex { comparesStates && $0.identity.id == file.vendor }
        let seen = Seen(vendor: vendor.map { world.sandbox.vendor($0) })
        let runner = ContractRunner(isPreparation: Self.steers) { (request) throws(ContractSendingProblem) in
            if Self.steers(request.url) {
                seen.forgetState()
                return try await Self.send(request, world)
            }
            let before = seen.vendorState()
            let answer = try await Self.send(request, world)
            if let entry = world.sandbox.journal.entries().last { seen.note(entry, world, before) }
            return answer
        }
        result = await runner.run(
            try file.read(), variables: ContractVariables(["base": .string("http://understudy/~\(world.name)")]))
        occurrences = seen.occurrences
    }

    /// The routes that accept a call, each with whether a case says the content of such an answer.
    func answeredRoutes(of file: ContractFile) throws -> [(route: String, isTold: Bool)] {
        let calls = try file.read().entries.filter { !Self.steers($0.request.url.source) }
        expect(calls.count, is: occurrences.accepted.count, "\(file)")
        return zip(calls, occurrences.accepted).compactMap { call, answer in
            let isTold = call.response?.body != nil || call.response?.asserts.isEmpty == false
            return answer.route.map { ($0, isTold || !answer.hasContent) }
        }
    }

    static func steers(_ url: String) -> Bool { url.contains("/_understudy/") }

    static func send(_ request: ContractRequest, _ world: World) async throws(ContractSendingProblem) -> ContractAnswer
    {
        let target = String(request.url.dropFirst("http://understudy".count))
        do {
            let answer = try await world.bare(
                request.method, target, request.fields.map { ($0.name.rawName, $0.value) },
                String(decoding: request.body, as: UTF8.self))
            return ContractAnswer(status: answer.status, fields: answer.fields, body: answer.body)
        } catch {
            throw ContractSendingProblem("\(error)")
        }
    }

    private final class Seen: Sendable {
        private let state = Mutex(Occurrences())
        private let vendor: (any AnySandboxedVendor)?
        /// After the last exchange, so that the next one need not read it again.
        private let last = Mutex<JSON?>(nil)

        init(vendor: (any AnySandboxedVendor)?) { self.vendor = vendor }

        var occurrences: Occurrences { state.withLock { $0 } }

        func forgetState() { last.withLock { $0 = nil } }

        /// The vendor's state, where it is compared.
        func vendorState() -> JSON {
            last.withLock { last in
                let state = last ?? vendor?.export(.whole) ?? .null
                last = state
                return state
            }
        }

        /// The members of a state that differ, as they were and as they are.
        private static func changes(_ before: JSON, _ after: JSON) -> [String: String] {
            let changed = (after.object ?? [:]).filter { before[$0.name] != $0.value }
            return Dictionary(
                uniqueKeysWithValues: changed.map {
                    ($0.name, "\(before[$0.name]?.text ?? "none") -> \($0.value.text)")
                })
        }

        func note(_ entry: JournalEntry, _ world: World, _ before: JSON) {
            let (record, reason) = (entry.record, entry.explanation)
            // Now, since the sandbox knows more secrets later.
            let shown = world.stage.isSeeded ? world.masked(entry) : .null
            forgetState()
            let changes = record.failure == nil ? [:] : Self.changes(before, vendorState())
            state.withLock { occurrences in
                occurrences.shown.append(shown)
                occurrences.accepted.append((record.failure == nil ? record.route : nil, !entry.response.body.isEmpty))
                if let route = record.route { occurrences.routes.insert(route) }
                if let route = record.route, let note = entry.unread?.note {
                    occurrences.unread.append("\(route): \(note)")
                }
                if let route = record.route, let vendor = record.vendor, let reading = record.reading?.current {
                    occurrences.readings.append(
                        ObservedReading(
                            vendor: vendor, route: route, isAccepted: record.failure == nil, reading: reading))
                }
                for finding in record.findings {
                    occurrences.outcomes.insert("\(record.vendor ?? "") \(finding.check) \(finding.outcome)")
                }
                let notes = record.findings.filter { $0.outcome == .noted }.map { "  \($0)" }
                guard let failure = record.failure else { return occurrences.reasons += notes }
                // What the machine's clock has a part in.
                let told = (reason ?? "none").replacing(/after [0-9.]+ s;/, with: "after a while;")
                occurrences.reasons += ["  \(failure): \(told)"] + notes
                occurrences.failures.insert(failure)
                if !record.isIntervened, occurrences.recorded[failure] == nil {
                    occurrences.recorded[failure] = RecordedRefusal(entry, failure, in: world.sandbox)
                }
                occurrences.refusals.insert(
                    ObservedRefusal(
                        vendor: record.vendor ?? "", failure: failure, reason: reason,
                        isArmed: record.intervention != nil && record.intervention == reason,
                        status: entry.response.status.code, changes: changes))
            }
        }
    }
}

@Suite("The contract cases of the fixtures") struct ContractCaseTests {
    /// Over a socket they pass where their journals are compared.
    @Test("pass without a socket", arguments: ContractFile.all) func pass(_ file: ContractFile) async throws {
        let run = try await ContractRun.once(file)
        #expect(run.result.hasPassed, "\(run.result.lines.joined(separator: "\n"))")
        #expect(run.result.cases.contains { !$0.isPreparation }, "\(file) has no case")
    }

    /// The routes and failures of a vendor that did not occur.
    private func missing(
        _ vendor: any AnyLoadedVendor, in seen: [Occurrences]
    ) -> (routes: [String], failures: [String]) {
        let (routes, failures) = (Set(seen.flatMap(\.routes)), Set(seen.flatMap(\.failures)))
        return (
            vendor.routes.map(\.id).filter { !routes.contains($0) },
            vendor.failures.map(\.name).filter { !failures.contains($0) }
        )
    }

    @Test("show every route and every failure of every vendor") func coverage() async throws {
        for vendor in try Stage.shared().emulator.vendors {
            let missing = missing(vendor, in: try await ContractRun.occurrences(of: vendor.identity.id))
            expect(missing.routes, is: [], "routes of \(vendor.identity.id) without a case")
            expect(missing.failures, is: [], "failures of \(vendor.identity.id) without a case")
        }
    }

    @Test("say with what content each route answers") func contents() async throws {
        for vendor in try Stage.shared().emulator.vendors {
            var told: [String: Bool] = [:]
            for file in ContractFile.all where file.vendor == vendor.identity.id {
                let answered = try await ContractRun.once(file).answeredRoutes(of: file)
                told.merge(answered.map { ($0.route, $0.isTold) }) { $0 || $1 }
            }
            #expect(!told.isEmpty, "routes of \(vendor.identity.id)")
            expect(told.filter { !$0.value }.keys.sorted(), is: [], "routes of \(vendor.identity.id)")
        }
    }

    private func refusals() async throws -> Set<ObservedRefusal> {
        let refusals = Set(try await ContractRun.occurrences().flatMap(\.refusals))
        #expect(refusals.count > 100)
        return refusals
    }

    /// What changes although the call is refused: ids of assertions count as used, grants end when a code or a token comes
    /// twice, and fetches of keys are counted.
    private static let counted: Set<String> = ["okta used_ids", "okta grants", "okta keys", "ims dev_keys"]

    @Test("change nothing where a call is refused, but for what is used or counted") func unchanged() async throws {
        for refusal in try await refusals() where !refusal.isArmed {
            let changes = refusal.changes.filter { !Self.counted.contains("\(refusal.vendor) \($0.key)") }
            #expect(changes.isEmpty, "\(refusal): \(changes)")
        }
    }

    /// What a page or a grant tells in its own way.
    private static let toldElsewhere: Set<String> = ["okta login-wrong", "okta factor-code-wrong"]

    @Test("refuse each call with a status that failures.yaml has, or by a redirect") func statuses() async throws {
        for refusal in try await refusals() where !(300..<400).contains(refusal.status) {
            let statuses = try FailureSheet.read(refusal.vendor, in: Repository.root + "/Fixtures")
                .statuses(of: refusal.failure)
            let isRight = statuses.contains(refusal.status) || Self.toldElsewhere.contains(refusal.name)
            #expect(isRight, "\(refusal): \(refusal.status) is not one of \(statuses)")
        }
    }

    @Test("give each refusal a reason that says what was found and what was expected, in people's words")
    func reasons() async throws {
        let refusals = try await refusals()
        let offenders = refusals.filter { !$0.faults.isEmpty }.map { "\($0) <- \($0.faults.joined(separator: "; "))" }
        #expect(
            offenders.isEmpty, "\(offenders.count) of \(refusals.count):\n\(offenders.sorted().joined(separator: "\n"))"
        )
    }

    /// So that a case says all that a refusal must: status, content and reason.
    @Test("give the reasons and notes that Reasons lists", arguments: Set(ContractFile.all.map(\.vendor)).sorted())
    func listedReasons(_ vendor: String) async throws {
        var lines: [String] = []
        for file in ContractFile.all where file.vendor == vendor {
            lines += [file.name] + (try await ContractRun.once(file).occurrences.reasons)
        }
        // A new vendor has no list yet: all of its lines are missing there.
        let listed = (try? String(contentsOfFile: "\(Self.folder)/\(vendor).txt", encoding: .utf8)) ?? ""
        let changes = lines.difference(from: listed.split(separator: "\n").map(String.init))
        guard !changes.isEmpty else { return }
        let path = "\(Repository.root)/.build/\(vendor).txt"
        try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
        let texts = changes.map { change in
            switch change {
            case .insert(_, let line, _): "+ \(line)"
            case .remove(_, let line, _): "- \(line)"
            }
        }
        Issue.record("\(path) differs from Reasons:\n\(texts.joined(separator: "\n"))")
    }

    /// What breaks any vendor's token or credentials, some behind a prefix; the tests of tokens and of bearer tokens do.
    private static let shared = [
        "authorization-lines", "bearer-once", "critical", "header-base64url", "header-duplicates", "header-json",
        "key-references", "milliseconds-exp", "milliseconds-iat", "milliseconds-nbf", "parts", "payload-base64url",
        "payload-duplicates", "payload-json", "secret-mistake", "signature-base64url", "signature-present", "size",
    ]

    /// Rules that no case breaks, each behind its vendor, and the suites or cases of the kit that do.
    private static let brokenElsewhere = [
        "bloomreach private-key": "ReasonTests", "bloomreach type": "TokenRuleTests",
        "comapi audience-array": "TokenRuleTests", "comapi claim-apiSpaceId-present": "TokenCase",
        "comapi claim-boot-present": "TokenCase", "comapi claim-jti-present": "TokenCase",
        "comapi claim-nbf-present": "TokenRuleTests", "comapi iat-ahead": "TokenRuleTests",
        "comapi long-lived-token": "TokenRuleTests", "comapi secret-length": "TokenRuleTests",
        "comapi shared-user-id": "TokenRuleTests",
        "comapi unusual-typ": "TokenRuleTests", "comapi user-id": "TokenRuleTests",
        "ims claim-client_id-equals": "ReasonTests", "ims claim-iat-present": "TokenRuleTests",
        "ims claim-iss-present": "TokenRuleTests", "ims claim-nbf-present": "TokenRuleTests",
        "ims signature-genuine": "EdgeTests", "ims token-is-jwt": "ReasonTests", "okta access-token": "UserinfoTests",
        "okta claim-iat-present": "TokenCase", "okta claim-nbf-present": "TokenCase",
        "okta claim-sub-present": "TokenCase", "okta claim-tx-present": "TokenCase",
        "okta secret-length": "ClientAuthenticationTests", "okta ssws-algorithm": "TokenCase",
        "okta ssws-claim-jti": "TokenCase", "okta ssws-not-before": "TokenCase", "okta ssws-transaction": "PushTests",
        "okta ssws-type": "PushTests", "okta subject-algorithm": "TokenExchangeTests",
        "okta subject-device-secret": "TokenExchangeTests", "okta subject-kind": "TokenExchangeTests",
        "okta subject-revocation": "TokenExchangeTests", "okta subject-session": "TokenExchangeTests",
        "okta subject-user": "TokenExchangeTests", "rezolve api-key-partner": "RUATests",
        "rezolve claim-partner_entity_id-present": "TokenRuleTests",
        "rezolve claim-rezolve_entity_id-present": "TokenRuleTests", "rezolve customer-known": "TokenRuleTests",
        "rezolve partner-entity-id": "TokenRuleTests", "rezolve registration-token-reuse": "SwitchCase",
        "rezolve rua-user": "RUATests", "rezolve type": "TokenRuleTests",
    ]

    @Test("break each rule, unless a suite is named that does") func rules() async throws {
        let outcomes = Set(try await ContractRun.occurrences().flatMap(\.outcomes))
        for module in Catalog.vendors {
            for rule in module.rules where !Self.shared.contains(where: rule.check.hasSuffix) {
                let name = "\(module.identity.id) \(rule.check)"
                // What leads to no failure leaves a note, or is not judged for want of what it needs.
                let breaks: [Finding.Outcome] = rule.failures.isEmpty ? [.noted, .notJudged] : [.failed, .noted]
                let isBroken = breaks.contains { outcomes.contains("\(name) \($0)") }
                #expect(isBroken != (Self.brokenElsewhere[name] != nil), "\(name)")
            }
        }
    }

    private static let folder = Repository.root + "/Tests/UnderstudyTests/Reasons"

    @Test("the form is held: each fault of a reason is found") func reasonForm() {
        let good = "claim-exp-present: found nothing; expected a number. Use seconds."
        expect(ReasonForm.faults(in: good, isArmed: false), is: [])
        for bad in [
            "customer_ids: found wrongType; expected an object", "a: found Optional(1); expected 2",
            "x: found “”; expected one", "x: found \"\"; expected one", "found a; expected b: email is missing",
            "the email is wrong", "no user of partner 1 has the id 9", "claim-exp-present: failed",
        ] {
            expect(ReasonForm.faults(in: bad, isArmed: false).count, is: 1, "\(bad)")
        }
        #expect(ReasonForm.caseNames.isSuperset(of: ["wrongType", "notOffered", "tooDeep"]))
    }

    @Test("are missed where there are none") func coverageOfNothing() throws {
        for vendor in try Stage.shared().emulator.vendors {
            let missing = missing(vendor, in: [])
            expect(missing.routes, is: vendor.routes.map(\.id))
            expect(missing.failures, is: vendor.failures.map(\.name))
        }
    }

    @Test("can be run twice in one sandbox, as Hurl does in the standard one", arguments: ContractFile.all)
    func repeatable(_ file: ContractFile) async throws {
        let again = try await ContractRun(file, in: ContractRun.once(file).world)
        #expect(again.result.hasPassed, "\(again.result.lines.joined(separator: "\n"))")
    }
}
