import Emulation
import HTTPTypes
import JSON
import Mutations
import Support
import Understudy

@testable import Contracts

/// Generates and performs a sequence of calls, since later calls need the tokens and ids of earlier ones.
///
/// The material is the vendors' contract cases: each is a valid call, sent as it is and mutated. Between them come
/// vendors' actions, clocks, settings and imports, as the product itself lists them.
struct CourseWriter {
    private static let origin = "http://understudy"

    private let world: World
    private let files: [HurlFile]
    private var random: SeededGenerator
    private var seen: [String: [JSON]] = [:]
    private(set) var steps: [Step] = []

    init(seed: UInt64, in world: World, _ files: [HurlFile]) {
        self.world = world
        self.files = files
        random = SeededGenerator(seed: seed)
    }

    mutating func write() async throws {
        // With a seed, ids repeat, so that two servers in the same state give the same answers.
        try await perform(.put, "/_understudy/settings", #"{"seed":\#(Int.random(in: 1...1000, using: &random))}"#)
        try await perform(.put, "/_understudy/clock", #"{"now":1800000000,"freeze":true}"#)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard let file = files.randomElement(using: &random) else { return }
            try await replay(file)
        }
    }

    private func happens(_ percent: Int, _ random: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<100, using: &random) < percent
    }

    // MARK: - Contract cases

    private mutating func replay(_ file: HurlFile) async throws {
        var variables = ContractVariables(["base": .string(Self.origin)])
        for entry in file.entries {
            for option in entry.request.options { Self.set(option, &variables) }
            // A variable was never captured: after the earlier mutations, the case cannot run.
            guard let request = try? ContractRequest(entry.request, variables) else { continue }
            if happens(25, &random) { try await performMutated(request) }
            let answer = try await perform(request)
            guard let answer, var response = entry.response else { continue }
            (response.fields, response.asserts, response.body) = ([], [], nil)
            var judge = ContractJudge(
                answer: ContractAnswer(status: answer.status, fields: answer.fields, body: answer.body),
                variables: variables)
            _ = judge.failures(response)
            variables = judge.variables
            try await interrupt()
        }
    }

    private static func set(_ option: HurlOption, _ variables: inout ContractVariables) {
        switch option {
        case .skip: break
        case .variable(let name, .constant(let value), _): variables[name] = value
        case .variable(let name, .text(let template), _):
            variables[name] = (try? variables.text(template)).map(JSON.string)
        }
    }

    @discardableResult
    private mutating func perform(_ request: ContractRequest) async throws -> ReceivedAnswer? {
        var body = String(decoding: request.body, as: UTF8.self)
        let target = Self.target(of: request)
        // A sequence must not end where it began.
        if target == "/_understudy/reset", !happens(4, &random) { return nil }
        if target == "/_understudy/clock", happens(15, &random) { body = lateClock() }
        return try await perform(request.method, target, body, request.fields.map { ($0.name.rawName, $0.value) })
    }

    private static func target(of request: ContractRequest) -> String {
        let target = request.url.dropFirst(origin.count)
        return target.hasPrefix("/") ? String(target) : "/" + target
    }

    private mutating func performMutated(_ request: ContractRequest) async throws {
        guard !request.url.hasSuffix("/_understudy/reset") else { return }
        var target = Self.target(of: request)
        var body = String(decoding: request.body, as: UTF8.self)
        if let value = try? JSON.parse(request.body) {
            var mutated = value
            for _ in 0..<Int.random(in: 1...3, using: &random) { mutated = OddValues.mutate(mutated, &random) }
            body = mutated.text
        } else if happens(50, &random) {
            var bytes = Array(target.utf8)
            Mutation.apply(to: &bytes, using: &random)
            target =
                "/"
                + String(decoding: bytes.filter { (0x21...0x7E).contains($0) && $0 != 0x23 }.dropFirst(), as: UTF8.self)
        }
        try await perform(request.method, target, body, request.fields.map { ($0.name.rawName, $0.value) })
    }

    // MARK: - Between the cases

    private mutating func interrupt() async throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<6: try await act()
        case 6..<10: try await replaceState()
        case 10..<13: try await importMutated()
        case 13..<15: try await moveClock()
        case 15..<17: try await drill()
        case 17..<18: try await perform(.put, "/_understudy/settings", #"{"profile":"observed"}"#)
        case 18..<20: try await setSwitch()
        default: break
        }
    }

    private mutating func lateClock() -> String {
        let moment = [0, 1, 253_402_295_400, 253_402_300_799, 1_800_000_000].randomElement(using: &random) ?? 0
        return #"{"now":\#(moment),"freeze":true}"#
    }

    private mutating func moveClock() async throws {
        let bodies = [lateClock(), #"{"advance":"31m"}"#, #"{"advance":"-2h"}"#, #"{"advance":"80h"}"#]
        try await perform(.put, "/_understudy/clock", bodies.randomElement(using: &random) ?? "{}")
    }

    private mutating func setSwitch() async throws {
        guard let vendor = world.emulator.vendors.randomElement(using: &random),
            let declaration = vendor.switchDeclarations.randomElement(using: &random)
        else { return }
        let value = ["on", "off", "enforce", "0", "1", "600", "observed"].randomElement(using: &random) ?? "on"
        let name = "\(vendor.identity.id).\(declaration.name)"
        try await perform(
            .put, "/_understudy/settings", JSON.object(["switches": .object([name: .string(value)])]).text)
    }

    /// Performs an action with seen and odd values for its members.
    private mutating func act() async throws {
        guard let vendor = world.emulator.vendors.randomElement(using: &random),
            let action = vendor.actions.randomElement(using: &random)
        else { return }
        var members = JSONObject()
        for member in action.members where member.isRequired || happens(50, &random) {
            members.append(member.name, known(member.name))
        }
        try await perform(.post, "/_understudy/state/\(vendor.identity.id)/\(action.name)", JSON.object(members).text)
    }

    private mutating func known(_ name: String) -> JSON {
        guard !happens(15, &random), let value = seen[name]?.randomElement(using: &random) else {
            return OddValues.value(&random)
        }
        return happens(30, &random) ? OddValues.mutate(value, &random) : value
    }

    private mutating func drill() async throws {
        let issuers = world.emulator.vendors.enumerated().flatMap { index, vendor in
            world.sandbox.vendor(index).issuers.map { "\(vendor.identity.id)/\($0.name)" }
        }
        guard let issuer = issuers.randomElement(using: &random),
            let drill = KeyDrill.allCases.randomElement(using: &random)
        else { return }
        try await perform(.post, "/_understudy/keys/\(issuer)/\(drill.rawValue)", "")
    }

    /// Exports a vendor's state and imports it, usually mutated.
    private mutating func replaceState() async throws {
        guard let vendor = world.emulator.vendors.randomElement(using: &random)?.identity.id else { return }
        let state = try await world.control(.get, "state/\(vendor)").body
        guard var value = try? JSON.parse(state, maximumDepth: Emulator.stateDepth) else { return }
        for _ in 0..<Int.random(in: 0...2, using: &random) { value = OddValues.mutate(value, &random) }
        try await perform(.put, "/_understudy/state/\(vendor)", value.text)
    }

    private mutating func importMutated() async throws {
        let mutated = OddValues.mutate(StateDocument.entry(of: world), &random)
        try await perform(.importing(mutated))
    }

    // MARK: - Performing

    @discardableResult
    private mutating func perform(
        _ method: HTTPRequest.Method, _ target: String, _ body: String, _ fields: World.Fields = []
    ) async throws -> ReceivedAnswer? {
        if let value = try? JSON.parse(Array(body.utf8)) { note(value) }
        return try await perform(.call(method, target, fields, body))
    }

    @discardableResult
    private mutating func perform(_ step: Step) async throws -> ReceivedAnswer? {
        steps.append(step)
        PropertyLog.note(step)
        let answer = try await step.perform(in: world)
        if let answer, answer.body.count < 10_000, let value = try? JSON.parse(answer.body) { note(value) }
        return answer
    }

    private mutating func note(_ value: JSON) {
        switch value {
        case .object(let object):
            for member in object {
                seen[member.name, default: []].append(member.value)
                note(member.value)
            }
        case .array(let elements): for element in elements { note(element) }
        case .null, .bool, .number, .string: break
        }
    }
}
