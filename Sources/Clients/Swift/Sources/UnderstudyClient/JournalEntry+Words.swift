extension Control.JournalEntry {
    /// Whether the call was refused.
    public var isRefused: Bool { failure != nil }

    /// All rules that the call broke, not only the one that decided its answer.
    public var failedChecks: [Control.Finding] { findings.filter { $0.outcome == .failed } }

    /// The entry in words: the call, its status, the rules that it broke, and the reason.
    public func describe() -> String {
        let place = [vendor, route].compactMap { $0 }.joined(separator: ", ")
        var lines = [
            "#\(id) \(request.method) \(request.target) (\(place.isEmpty ? "no vendor" : place))",
            "   answered \(status)" + (failure.map { ": \($0)" } ?? ""),
        ]
        let failed = failedChecks.map(\.check)
        if !failed.isEmpty {
            lines.append("   failed \(failed.count == 1 ? "rule" : "rules"): \(failed.joined(separator: ", "))")
        }
        if let reason { lines.append("   reason: \(reason)") }
        if let nearestRoutes, !nearestRoutes.isEmpty {
            lines.append("   nearest routes: \(nearestRoutes.joined(separator: "; "))")
        }
        if let intervention {
            let steps = (intervention.array ?? [intervention]).map(\.description)
            lines.append("   intervention: \(steps.joined(separator: "; "))")
        }
        return lines.joined(separator: "\n")
    }
}
