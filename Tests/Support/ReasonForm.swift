import Foundation

/// The required form of a refusal's reason, so that its one line is enough to know the cause.
package enum ReasonForm {
    /// What is wrong with the reason of a failure; empty when nothing is.
    ///
    /// - Parameter isArmed: whether the failure was armed, so that nothing was found.
    package static func faults(in reason: String, isArmed: Bool) -> [String] {
        var faults: [String] = []
        if let name = caseName(in: reason) { faults.append("the name \(name) of a case in the code") }
        if reason.contains("Optional(") { faults.append("Optional(…)") }
        if ["“”", "\"\"", "‘’", "''"].contains(where: reason.contains) { faults.append("empty quotes") }
        for phrase in ["is absent", "are absent", "is missing", "are missing"] where reason.contains(phrase) {
            faults.append("“\(phrase)”, which says the same of a value that is wrong")
        }
        if !isArmed, !namesBothSides(reason) { faults.append("not both sides: what was found and what was expected") }
        return faults
    }

    /// Whether the reason says what was found and what was expected, in any wording.
    private static func namesBothSides(_ reason: String) -> Bool {
        let contrasts = [
            "; expected ", ", not ", "; at most ", "; at least ", "did you mean", "; known are ", "; none is known",
        ]
        if contrasts.contains(where: reason.contains) { return true }
        // For an unknown path, the nearest route is the expected one, if any is near.
        return ["has nothing at this path", "no vendor owns this path"].contains(where: reason.contains)
    }

    private static func caseName(in reason: String) -> String? {
        // Not by an expression: this is asked of tens of thousands of reasons.
        reason.utf8.split { !(65...90 ~= $0 || 97...122 ~= $0) }.map { String(decoding: $0, as: UTF8.self) }
            .first { caseNames.contains($0) }
    }

    /// Case names in the sources that cannot be ordinary words: they contain an inner capital letter, and do not occur
    /// in texts of sources or fixtures, unlike the names of members on the wire.
    package static let caseNames: Set<String> = {
        var names: Set<String> = []
        var texts: Set<String> = []
        for path in FileManager.default.enumerator(atPath: Repository.root + "/Sources")?.compactMap({ $0 as? String })
            ?? []
        where path.hasSuffix(".swift") {
            guard let source = try? String(contentsOfFile: "\(Repository.root)/Sources/\(path)", encoding: .utf8) else {
                continue
            }
            for match in source.matches(of: /\bcase ((?:[a-z]+[A-Z]\w*(?:, )?)+)/) {
                names.formUnion(match.1.matches(of: /[a-z]+[A-Z]\w*/).map { String($0.0) })
            }
            for match in source.matches(of: /"([^"\n]*)"/) {
                texts.formUnion(match.1.matches(of: /[a-z]+[A-Z]\w*/).map { String($0.0) })
            }
        }
        // Names that clients send may equal a case's name.
        for file in ContractFile.all {
            guard let bytes = try? Repository.fixtures.file(file.description).bytes else { continue }
            texts.formUnion(String(decoding: bytes, as: UTF8.self).matches(of: /[a-z]+[A-Z]\w*/).map { String($0.0) })
        }
        return names.subtracting(texts)
    }()
}
