public import JSON

/// A documented failure that is to replace the answer of one call.
public struct ArmedFault: Sendable, Hashable {
    /// The vendor's id.
    public let vendor: String
    /// The route's id.
    public let route: String
    /// Which call from the arming on is hit, counted from 1.
    public let call: Int
    /// The failure's name.
    public let failure: String

    /// A fault that hits that call of a route once.
    public init(vendor: String, route: String, call: Int = 1, failure: String) {
        self.vendor = vendor
        self.route = route
        self.call = call
        self.failure = failure
    }

    /// The fault as the control API shows it.
    public var json: JSON {
        ["vendor": .string(vendor), "route": .string(route), "call": JSON(call), "fail": .string(failure)]
    }
}

/// The faults that are armed in a sandbox, and the calls that each has seen.
struct FaultBoard: Sendable {
    private var armed: [(fault: ArmedFault, calls: Int)] = []

    var faults: [ArmedFault] { armed.map(\.fault) }

    mutating func arm(_ faults: [ArmedFault]) {
        armed = faults.map { ($0, 0) }
    }

    /// Counts a call; the fault that it sets off, if any, is spent.
    mutating func fault(vendor: String, route: String) -> ArmedFault? {
        let concerned = armed.indices.filter { armed[$0].fault.vendor == vendor && armed[$0].fault.route == route }
        for index in concerned { armed[index].calls += 1 }
        // Of two that are due at once the second hits the next call of its route.
        guard let due = concerned.first(where: { armed[$0].calls >= armed[$0].fault.call }) else { return nil }
        return armed.remove(at: due).fault
    }
}
