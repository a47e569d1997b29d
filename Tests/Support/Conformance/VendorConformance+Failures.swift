import Emulation
import Expectations
package import JSON
import Synchronization
import Testing

extension VendorConformance {
    package var failureNames: [String] { (try? mounted().failures.map(\.name)) ?? [] }

    package func checkFailureSheet() throws {
        let sheet = try FailureSheet.read(id, in: server.fixtures)
        for failure in try mounted().failures {
            #expect(sheet.statuses(of: failure.name).contains(failure.status), "\(failure.name)")
        }
    }

    /// Checks that an armed failure is answered as `failures.yaml` says: status, fields and content, under each set of
    /// switches in the file; the reason says that it was armed.
    ///
    /// It is armed at each route that the file names for it, and at some four others, which differ from failure to
    /// failure like the place of the call, so that each place of each route meets several.
    package func checkArmed(_ failure: String) async throws {
        let sheet = try FailureSheet.read(id, in: server.fixtures)
        let vendor = try mounted()
        let fault = #"{"faults":[{"vendor":"\#(id)","fail":"\#(failure)","times":"always"}]}"#
        let number = vendor.failures.firstIndex { $0.name == failure } ?? 0
        let named = sheet.routes(namedBy: failure)
        let step = max(1, vendor.routes.count / 4)
        let routes = vendor.routes.enumerated().filter { index, route in
            named.contains(route.id) || (index + number).isMultiple(of: step)
        }
        for switches in sheet.situations {
            let world = try await world()
            for (name, value) in switches { try await world.set("\(id).\(name)", value) }
            try await world.control(.put, "faults", fault)
            for (_, route) in routes {
                let place = routesForPeople.contains(route.id) ? "" : route.id
                let expected = sheet.answer(failure, route: place, switches: switches)
                let endpoint = route.endpoints[number / step % route.endpoints.count]
                let path = endpoint.pattern.replacing(/\{[^}]*\}/, with: "x")
                let answer = try await world.call(endpoint.method, path, fieldsForArmed)
                for problem in problems(of: answer, at: path, armed: failure, expected) {
                    Issue.record("\(id) \(failure) at \(endpoint.method) \(path), switches \(switches): \(problem)")
                }
            }
        }
    }

    private func problems(
        of answer: ReceivedAnswer, at path: String, armed failure: String, _ expected: FailureSheet.Answer
    ) -> [String] {
        var problems: [String] = []
        func compare(_ what: String, _ found: String?, _ expected: String?) {
            if found != expected {
                problems.append("\(what): found \(found ?? "none"), expected \(expected ?? "none")")
            }
        }
        let reason = answer.entry?.explanation ?? ""
        compare("failure", answer.failure, failure)
        compare("status", "\(answer.status)", "\(expected.status)")
        compare("content", withoutOwnIDs(answer.text), expected.text)
        for field in expected.fields { compare(field.name, answer[field.name].map(withoutOwnIDs), field.value) }
        if expected.isJSON { compare("content-type", answer["content-type"], contentType) }
        compare("reason", reason, answer.entry?.record.intervention)
        if !reason.contains("fault") || !reason.contains(failure) { problems.append("reason: \(reason)") }
        return problems + ReasonForm.faults(in: reason, isArmed: true)
    }
}

/// A vendor's `failures.yaml`, read independently of the product's template reader.
package struct FailureSheet: Sendable {
    struct Answer: Sendable {
        let status: Int
        let fields: [(name: String, value: String)]
        let text: String
        let isJSON: Bool
    }

    private let failures: JSONObject
    private let envelopes: [JSON]

    private static let sheets = Mutex<[String: FailureSheet]>([:])

    /// The vendor's sheet in a folder of fixtures, read once: hundreds of cases ask for it.
    package static func read(_ vendor: String, in fixtures: String) throws -> FailureSheet {
        let place = "\(fixtures)/\(vendor)"
        if let known = sheets.withLock({ $0[place] }) { return known }
        let sheet = try FailureSheet(vendor, in: fixtures)
        sheets.withLock { $0[place] = sheet }
        return sheet
    }

    private init(_ vendor: String, in fixtures: String) throws {
        let document = try FixtureStore(layers: [fixtures]).document(vendor + "/failures.yaml").json()
        failures = document["failures"]?.object ?? [:]
        envelopes = document["envelopes"]?.array ?? []
    }

    /// Every set of switches that a variant or an envelope requires, and the empty set.
    var situations: [[String: String]] {
        let conditions = (failures.flatMap { $0.value["variants"]?.array ?? [] } + envelopes).map { variant in
            let members = (variant["when"]?.object ?? [:]).filter { $0.name != "route" }
            return Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value.string ?? "") })
        }
        return [[:]] + Set(conditions).subtracting([[:]]).sorted { "\($0)" < "\($1)" }
    }

    /// The routes where it has an answer of its own.
    func routes(namedBy failure: String) -> Set<String> {
        let variants = failures[failure]?["variants"]?.array ?? []
        return Set(variants.flatMap { $0["when"]?["route"]?.array ?? [] }.compactMap(\.string))
    }

    func answer(_ failure: String, route: String, switches: [String: String]) -> Answer {
        let entry = failures[failure] ?? [:]
        let values = entry["parameters"]?.object ?? [:]
        func holds(_ variant: JSON) -> Bool {
            (variant["when"]?.object ?? [:]).allSatisfy { member in
                member.name == "route"
                    ? member.value.array?.contains(.string(route)) == true
                    : switches[member.name] == member.value.string
            }
        }
        let variant = entry["variants"]?.array?.first(where: holds) ?? entry
        let fields = ((variant["headers"] ?? entry["headers"])?.object ?? [:]).map {
            (name: $0.name, value: Self.text($0.value, values))
        }
        let status = variant["status"]?.int ?? entry["status"]?.int ?? 0
        guard let body = variant["body"] else {
            let text = variant["text"].map { Self.text($0, values) } ?? ""
            return Answer(status: status, fields: fields, text: text, isJSON: false)
        }
        let content = envelopes.filter(holds).reduce(Self.filled(body, values)) { content, envelope in
            Self.filled(envelope["body"] ?? nil, ["body": content])
        }
        return Answer(status: status, fields: fields, text: content.text, isJSON: true)
    }

    /// Its usual content, with standard parameters.
    package func body(of failure: String) -> JSON {
        Self.filled(failures[failure]?["body"] ?? .null, failures[failure]?["parameters"]?.object ?? [:])
    }

    /// Whether its content depends on the request.
    func hasParameters(_ failure: String) -> Bool { failures[failure]?["parameters"] != nil }

    /// Every possible status of a failure, for any route and switches.
    package func statuses(of failure: String) -> Set<Int> {
        let entry = failures[failure] ?? [:]
        return Set(([entry] + (entry["variants"]?.array ?? [])).compactMap { $0["status"]?.int })
    }

    /// The member names of every possible content of a failure.
    func shapes(of failure: String) -> Set<[String]> {
        let entry = failures[failure] ?? [:]
        return Set(([entry] + (entry["variants"]?.array ?? [])).map { $0["body"]?.object?.map(\.name) ?? [] })
    }

    private static func filled(_ template: JSON, _ values: JSONObject) -> JSON {
        switch template {
        case .string(let text):
            let name = text.hasPrefix("{{") && text.hasSuffix("}}") ? String(text.dropFirst(2).dropLast(2)) : ""
            return values[name] ?? .string(Self.text(template, values))
        case .array(let elements): return .array(elements.map { filled($0, values) })
        case .object(let object):
            return .object(JSONObject(object.map { (Self.text(.string($0.name), values), filled($0.value, values)) }))
        case .null, .bool, .number: return template
        }
    }

    private static func text(_ template: JSON, _ values: JSONObject) -> String {
        values.reduce(template.string ?? template.text) { text, value in
            text.replacing("{{\(value.name)}}", with: value.value.string ?? value.value.text)
        }
    }
}

extension VendorConformance {
    /// Checks that the vendor has these actions with these members, and that each is refused without one it needs.
    package func checkActions() async throws {
        let listed = try mounted().actions
        expect(
            listed.map { action in
                ([action.name] + action.members.map { $0.name + ($0.isRequired ? "!" : "") }).joined(separator: " ")
            }, is: actions)
        let world = try await world()
        for action in listed {
            let needed = action.members.filter(\.isRequired)
            for missing in needed {
                let others = needed.filter { $0.name != missing.name }.map { ($0.name, JSON.string("x")) }
                let answer = try await world.control(
                    .post, "state/\(id)/\(action.name)", JSON.object(JSONObject(others)).text)
                answer.expect(400)
                expect(
                    answer.json["error"]?["message"]?.string,
                    is: "action \(action.name) needs the member \(missing.name): \(missing.about)")
            }
        }
    }
}

/// A shipped scenario, played by an app that does everything at once: it signs in again as soon as it is refused, and
/// repeats the call, while the clock stands still.
package struct ScenarioPlay: Sendable, CustomStringConvertible {
    let scenario: String
    let calls: Int
    let ending: String?
    let signIn: @Sendable (World) async throws -> String
    let call: @Sendable (World, String) async throws -> ReceivedAnswer

    /// A play of the scenario of that name.
    ///
    /// - Parameters:
    ///   - calls: how many calls the app makes, without those it repeats.
    ///   - ending: the failure in which the app ends; `nil` when each call gets through.
    ///   - signIn: makes what the app needs, and gives it a token.
    ///   - call: makes the call with that token.
    package init(
        _ scenario: String, calls: Int = 3, ending: String? = nil,
        signIn: @escaping @Sendable (World) async throws -> String = { _ in "" },
        call: @escaping @Sendable (World, String) async throws -> ReceivedAnswer
    ) {
        (self.scenario, self.calls, self.ending, self.signIn, self.call) = (scenario, calls, ending, signIn, call)
    }

    package var description: String { scenario }
}

extension VendorConformance {
    package func check(_ play: ScenarioPlay) async throws {
        let world = try await world()
        var token = try await play.signIn(world)
        try await world.control(.put, "scenarios", #"{"scenario":"\#(play.scenario)"}"#).expect(200)
        var story: [String] = []
        for number in 1...play.calls {
            var answer = try await play.call(world, token)
            for _ in 1...3 where answer.isRefusedOrLost {
                story.append("\(number): \(answer.status) \(answer.entry?.record.intervention ?? answer.failure ?? "")")
                if answer.status == 401 { token = try await play.signIn(world) }
                answer = try await play.call(world, token)
            }
            let isLast = number == play.calls
            if isLast || play.ending == nil {
                expect(answer.failure, is: play.ending, "\(story) \(answer.entry?.explanation ?? "")")
            }
        }
        let isEffective = world.sandbox.journal.entries().contains { $0.record.isIntervened }
        #expect(isEffective, "\(play.scenario) did nothing")
    }

    package func checkPlayCoverage() throws {
        expect(plays.map(\.scenario).sorted(), is: (try mounted().scenarios.map(\.name).sorted()))
    }
}

extension ReceivedAnswer {
    fileprivate var isRefusedOrLost: Bool { failure != nil || entry?.response.transmission.fault != nil }
}
