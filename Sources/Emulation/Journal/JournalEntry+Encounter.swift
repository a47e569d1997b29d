import JSON
import Wire

extension JournalEntry {
    /// The exchange as conditions see it, and what judging them may take.
    func encounter(_ budget: WorkBudget) -> Encounter {
        Encounter(
            request: request, claims: record.claims, moment: moment, reason: explanation, budget: budget)
    }

    /// The exchange as people may see it: with its secrets masked as in the entry's JSON.
    var maskedEncounter: Encounter {
        var request = request
        request.target = Mask.target(request.target)
        request.fields = FieldLines(
            request.fields.map { ($0.name, Mask.field($0.name, $0.value, hiding: record.secrets)) })
        request.body = maskedBody
        return Encounter(request: request, claims: record.claims, moment: moment, reason: explanation)
    }

    private var maskedBody: [UInt8] {
        if let value = try? JSON.parse(request.body) { return Mask.members(record.secrets, of: value).bytes }
        if record.secrets.isEmpty { return request.body }
        // Which field of a form is the secret one depends on who reads it, so all are hidden.
        let fields = request.body.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return Array(
            fields.map { $0.prefix { $0 != UInt8(ascii: "=") } + Array("=***".utf8) }.joined(separator: "&".utf8))
    }

    /// The exchange in a line: what was asked, and what came of it.
    var summary: String {
        let failure = record.failure.map { " \($0)" } ?? ""
        return "\(request.method.rawValue) \(Mask.target(request.target)) → \(response.status.code)\(failure)"
    }

    /// The routes that come closest; `nil` where the request found one.
    func nearestRoutes(in routes: RouteTable) -> [String]? {
        record.route == nil ? routes.nearest(to: request.method, request.path) : nil
    }
}
