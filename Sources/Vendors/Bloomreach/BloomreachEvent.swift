import Emulation
import JSON

struct BloomreachEvent: CodedRecord {
    var type = ""
    /// When it happened, in Unix seconds.
    var timestamp = 0.0
    var properties = JSONObject()
    /// Its position among all events of the project, in order of arrival; 0 places it after all others.
    var sequence = 0

    /// The maximum length of a type in bytes (ours).
    static let longestType = 256

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("type", &type)
        coder.member("timestamp", &timestamp, or: nil, write: { .seconds($0) }, read: Double.read)
        coder.object("properties", &properties)
        var place = sequence == 0 ? nil : sequence
        coder.member("sequence", &place, in: 0...Ordinal.largest)
        sequence = place ?? 0
    }

    /// The event as the data calls return it.
    var json: JSON { ["type": .string(type), "timestamp": .seconds(timestamp), "properties": .object(properties)] }
}

extension JSON {
    /// Unix seconds, always with a fraction: the vendor's servers write `1800000000.0` (observed, its Python client).
    static func seconds(_ value: Double) -> JSON {
        // The value is always finite; otherwise write it in the plain form.
        (try? JSON.parse("\(value)".utf8)) ?? .number(JSONNumber(value))
    }
}

/// The events of one customer, in order of arrival.
struct BloomreachEventLog: Sendable, Hashable {
    /// The maximum number of events per customer, and their maximum size in bytes (ours). Beyond either, the oldest are
    /// dropped until a tenth is free.
    static let maximumCount = 10_000
    static let maximumBytes = 2 << 20

    /// An event whose properties are text: a test may track a million, and as values they would take several times the
    /// memory.
    struct Entry: Sendable, Hashable {
        let type: String
        let timestamp: Double
        let sequence: Int
        /// Compact JSON.
        let properties: [UInt8]

        init(_ event: BloomreachEvent, sequence: Int) {
            (type, timestamp, self.sequence) = (event.type, event.timestamp, sequence)
            // Copied: a text just written has room to spare.
            properties = JSON.object(event.properties).bytes.map(\.self)
        }

        var event: BloomreachEvent {
            // The text was written from an object.
            let properties = JSON(kept: properties)?.object ?? [:]
            return BloomreachEvent(type: type, timestamp: timestamp, properties: properties, sequence: sequence)
        }

        fileprivate var byteCount: Int { 100 + type.utf8.count + properties.count }
    }

    private(set) var entries: [Entry] = []
    /// An estimate of the events' memory.
    private(set) var byteCount = 0

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        byteCount += entry.byteCount
        guard entries.count > Self.maximumCount || byteCount > Self.maximumBytes else { return }
        let (count, bytes) = (Self.maximumCount * 9 / 10, Self.maximumBytes * 9 / 10)
        var dropped = 0
        while dropped < entries.count, entries.count - dropped > count || byteCount > bytes {
            byteCount -= entries[dropped].byteCount
            dropped += 1
        }
        entries.removeFirst(dropped)
    }

    /// Merges the events of another log, in order of arrival.
    mutating func merge(_ other: BloomreachEventLog) {
        let all = (entries + other.entries).sorted { $0.sequence < $1.sequence }
        self = BloomreachEventLog()
        for entry in all { append(entry) }
    }
}

struct BloomreachEventExpectation {
    private let type: ValueMatcher?
    private let properties: [(name: String, matcher: ValueMatcher)]
    private let timestamp: ValueMatcher?
    private let minimum: Int
    private let maximum: Int?
    /// The bounds in words, such as `exactly 1`.
    private let bounds: String

    /// The maximum number of near misses to report, and of matching events.
    private static let shown = 5

    /// Reads `event_type`, `properties`, `timestamp`, and `at_least` (1 if no bound is given) and `at_most`, or
    /// `exactly` alone.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("event_type", "properties", "timestamp", "at_least", "at_most", "exactly")
        type = try entry["event_type"].map(ValueMatcher.init)
        timestamp = try entry["timestamp"].map(ValueMatcher.init)
        properties = try (entry["properties"]?.members() ?? []).map { (member) throws(FixtureProblem) in
            (member.name, try ValueMatcher(member.value))
        }
        let atLeast = try entry["at_least"].map { node throws(FixtureProblem) in try node.ordinal() }
        let atMost = try entry["at_most"].map { node throws(FixtureProblem) in try node.ordinal() }
        if let node = entry["exactly"] {
            guard atLeast == nil, atMost == nil else {
                throw node.nameProblem("exactly cannot be combined with at_least or at_most")
            }
            (minimum, maximum) = (try node.ordinal(), try node.ordinal())
            bounds = "exactly \(minimum)"
            return
        }
        (minimum, maximum) = (atLeast ?? (atMost == nil ? 1 : 0), atMost)
        if let atMost, let node = entry["at_most"], atMost < minimum {
            throw node.problem("at_most is \(atMost), and at_least \(minimum); nothing can be both")
        }
        bounds = JournalExpectation.bounds(minimum, maximum)
    }

    /// The data to check an expectation against.
    struct Evidence {
        let customers: [BloomreachCustomer]
        let clicks: [BloomreachEvent]
        /// The ids of the customer, if the expectation is about one.
        var ids: BloomreachIDs?
        /// The customers whom the expectation is not about.
        var others: () -> [BloomreachCustomer] = { [] }
    }

    /// The result of the expectation.
    ///
    /// - Throws: a refusal that names the closest events, or the excess ones.
    func verdict(on evidence: Evidence) throws(ControlRefusal) -> JSON {
        let tally = try tally(of: evidence)
        guard tally.count >= minimum, maximum.map({ tally.count <= $0 }) ?? true else {
            let elsewhere = tally.count < minimum ? elsewhere(evidence) : nil
            throw ControlRefusal(complaint(about: tally, isOfOne: evidence.ids != nil, elsewhere))
        }
        return [
            "verified": true, "count": JSON(tally.count), "expected": .string(bounds),
            "events": .array(tally.latest.map(\.json)),
        ]
    }

    /// ours: enough for a million events with ten members each and texts of some length.
    private static let mostSteps = 100_000_000

    private func tally(of evidence: Evidence) throws(ControlRefusal) -> Tally {
        var tally = Tally()
        var budget = WorkBudget(steps: Self.mostSteps)
        for customer in evidence.customers {
            for entry in customer.events.entries where budget.spend(onBytes: entry.properties.count) {
                judge(entry.event, entry.type, of: customer.number, &tally, &budget)
            }
        }
        for click in evidence.clicks { judge(click, click.type, of: nil, &tally, &budget) }
        try ControlRefusal.require(
            !budget.isSpent,
            "checking all these events takes more than \(Self.mostSteps) steps; name a customer, or compare with is")
        return tally
    }

    /// - Parameter event: read from its text only if its type is meant.
    private func judge(
        _ event: @autoclosure () -> BloomreachEvent, _ name: String, of customer: Int?, _ tally: inout Tally,
        _ budget: inout WorkBudget
    ) {
        guard type?.holds(for: [.string(name)], within: &budget) ?? true else { return tally.other(name) }
        let event = event()
        var misses: [String] = []
        if let expected = timestamp?.unmet(for: [.seconds(event.timestamp)], within: &budget) {
            misses.append("timestamp is \(event.timestamp), not \(expected)")
        }
        for (name, matcher) in properties {
            let value = event.properties[name]
            guard let expected = matcher.unmet(for: value.map { [$0] } ?? [], within: &budget) else { continue }
            misses.append("\(name) is \(value.map { String($0.text.prefix(100)) } ?? "absent"), not \(expected)")
        }
        tally.add(Tally.Found(event: event, customer: customer), misses)
    }

    /// The events of other customers that would have met the expectation; `nil` for none.
    private func elsewhere(_ evidence: Evidence) -> String? {
        let others = evidence.others()
        guard let ids = evidence.ids, let tally = try? tally(of: Evidence(customers: others, clicks: [])),
            tally.count > 0
        else { return nil }
        let owners = others.filter { tally.owners.contains($0.number) }.map { owner in
            let names = owner.names.prefix(1).map { name in
                let difference = ids[name.name].flatMap { Nearest.difference(name.value, $0) }
                return
                    "\(name.name.shown) \(JSON.string(name.value).text)\(difference.map { " (\($0.lowercased()))" } ?? "")"
            }
            return names.first ?? "customer \(owner.number)"
        }
        let events = tally.count == 1 ? "1 such event is" : "\(tally.count) such events are"
        return "; \(events) of other customers: \(owners.joined(separator: ", "))"
    }

    private func complaint(about tally: Tally, isOfOne: Bool, _ elsewhere: String?) -> String {
        var text = "expected \(bounds) \(bounds.hasSuffix(" 1") ? "event" : "events"), found \(tally.count)"
        if tally.count > (maximum ?? .max) {
            return text + tally.latest.reduce("; the latest:") { "\($0) \($1.summary);" }.dropLast()
        }
        for (index, near) in tally.nearest.enumerated() {
            text += index == 0 ? "; the nearest is " : "; then "
            text += "\(near.found.summary): \(near.misses.joined(separator: "; "))"
        }
        if tally.nearest.isEmpty, tally.otherTypes.isEmpty {
            return text + (elsewhere ?? "; nothing else was tracked" + (isOfOne ? " of this customer" : ""))
        }
        if tally.nearest.isEmpty {
            text += "; events of other types were tracked: \(tally.otherTypes.joined(separator: ", "))"
        }
        return text + (elsewhere ?? "")
    }

    /// The findings so far.
    private struct Tally {
        struct Found {
            let event: BloomreachEvent
            let customer: Int?

            var summary: String {
                let owner = customer.map { "customer \($0)" } ?? "nobody"
                return "\(event.type) of \(owner) at \(event.timestamp)"
            }

            var json: JSON {
                var object = event.json.object ?? [:]
                object["customer"] = customer.map { JSON($0) } ?? .null
                return .object(object)
            }
        }

        var count = 0
        var latest: [Found] = []
        /// The first customers with events that match.
        var owners: [Int] = []
        /// Events of the right type with the fewest misses, the latest first among equals.
        var nearest: [(found: Found, misses: [String])] = []
        var otherTypes: [String] = []

        mutating func add(_ found: Found, _ misses: [String]) {
            if misses.isEmpty {
                count += 1
                if let owner = found.customer, owners.last != owner, owners.count < shown { owners.append(owner) }
                latest.append(found)
                latest.sort { $0.event.sequence > $1.event.sequence }
                if latest.count > shown { latest.removeLast() }
                return
            }
            nearest.append((found, misses))
            nearest.sort { ($0.misses.count, $1.found.event.sequence) < ($1.misses.count, $0.found.event.sequence) }
            if nearest.count > shown { nearest.removeLast() }
        }

        mutating func other(_ type: String) {
            if otherTypes.count < shown, !otherTypes.contains(type) { otherTypes.append(type) }
        }
    }
}
