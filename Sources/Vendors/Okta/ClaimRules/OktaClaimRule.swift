import Emulation
import JSON
import Tokens

/// A rule that makes a token or an answer wrong on purpose, so that an app's own checks can be tested (ours).
struct OktaClaimRule: Sendable, Equatable {
    enum Target: String, CaseIterable, RecordValue {
        case id, access, both
        /// The JSON of the token endpoint.
        case response
        /// The parameters that the browser takes to the client.
        case redirect
        case userinfo, introspection

        var isToken: Bool { [.id, .access, .both].contains(self) }

        func covers(_ other: Target) -> Bool { self == other || self == .both && other.isToken }
    }

    /// ours: how many a sandbox may have.
    static let most = 100
    static let bound = RecordBound(count: most, share: nil)
    /// ours: how long a rule may be as JSON, in bytes.
    static let longest = 16 * 1024

    var name = ""
    var target = Target.both
    /// The ids and names that a token must be of; `nil` for any.
    var clientID: String?
    var userID: String?
    var serverID: String?
    var grant: String?
    var scope: String?
    /// How many answers it changes, and how many are left; `nil` for all.
    var times: Int? = 1
    var left: Int?
    /// The members to set; see ``OktaMemberChange``.
    var values: JSON = [:]
    /// The members to drop.
    var removed: [String] = []
    /// The members of the JOSE header to set.
    var header: JSON = [:]
    /// A defect of minting.
    var defect: String?

    /// Whether it says what is to be wrong, and not only where.
    var hasEffect: Bool {
        values.object?.isEmpty == false || !removed.isEmpty || header.object?.isEmpty == false || defect != nil
    }

    func fits(_ occasion: OktaOccasion) -> Bool {
        func isSame(_ wanted: String?, _ found: String?) -> Bool {
            guard let wanted else { return true }
            return found?.hasSameBytes(as: wanted) == true
        }
        return isSame(clientID, occasion.clientID) && isSame(userID, occasion.userID)
            && isSame(serverID, occasion.serverID) && isSame(grant, occasion.grant)
            && (scope.map { wanted in occasion.scopes.contains { $0.hasSameBytes(as: wanted) } } ?? true)
    }
}

/// Whom an answer is for, and by what right.
struct OktaOccasion: Sendable {
    /// `nil` when a token does not say it.
    var clientID: String?
    var userID: String?
    var serverID: String?
    var grant: String?
    var scopes: [String] = []
}

extension OktaClaimRule: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(name) }

    func clash(over name: Never?) -> String { "another claim rule is called \(self.name)" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("name", &name)
        coder.member("of", &target, or: .both)
        coder.member("client", &clientID)
        coder.member("user", &userID)
        coder.member("server", &serverID)
        coder.member("grant", &grant)
        coder.member("scope", &scope)
        coder.member("times", &times, or: .some(1), write: { $0.map { JSON($0) } ?? "always" }, read: Self.times)
        coder.member("left", &left, in: 1...Ordinal.largest)
        if left == nil { left = times }
        coder.member("set", &values, omitting: [:])
        coder.member("remove", &removed, omitting: [])
        coder.member("header", &header, omitting: [:])
        coder.member("defect", &defect)
        if coder.isReading, let complaint { coder.check(false, or: complaint) }
    }

    private static func times(_ node: FixtureNode) throws(FixtureProblem) -> Int? {
        let value = try node.json()
        if value == "always" { return nil }
        // A command line has only texts.
        guard let times = value.int ?? value.string.flatMap({ Int($0) }), (1...Ordinal.largest).contains(times) else {
            throw node.problem("times is \(value.text); expected a whole number from 1, or “always”")
        }
        return times
    }

    /// What cannot be done; `nil` when all can.
    private var complaint: String? {
        if !target.isToken, header != [:] || defect != nil {
            return "header and defect are for tokens; of is \(target.rawValue)"
        }
        for (name, value) in [("set", values), ("header", header)] {
            guard let members = value.object else { return "\(name) is a JSON \(value.typeName); expected an object" }
            for member in members {
                do throws(FixtureProblem) {
                    _ = try OktaMemberChange(member.value)
                } catch {
                    return "\(name): \(member.name): \(error.message)"
                }
            }
        }
        guard let defect else { return nil }
        if OktaDefect.ofServers.contains(where: { $0.rawValue.hasSameBytes(as: defect) }) { return nil }
        guard (try? Defect(named: defect)) == nil else { return nil }
        return
            "no defect is called \(defect)\(Nearest.hint(to: defect, among: OktaDefect.ofServers.map(\.rawValue) + Defect.names))"
    }
}
