import Foundation

/// What the reason of a refusal has to be like, so that whoever reads the one line knows the cause.
public enum ReasonForm {
    /// What is wrong with the reason of a failure; empty when nothing is.
    ///
    /// - Parameter isArmed: whether somebody ordered the failure, so that nothing was found.
    public static func faults(in reason: String, isArmed: Bool) -> [String] {
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

    /// What was found and what would be right, in whichever words say both.
    private static func namesBothSides(_ reason: String) -> Bool {
        let contrasts = [
            "; expected ", ", not ", "; at most ", "; at least ", "did you mean", "; known are ", "; none is known",
        ]
        if contrasts.contains(where: reason.contains) { return true }
        // Of a path that nobody has the nearest route is what would be right, if any is near.
        return ["has nothing at this path", "no vendor owns this path"].contains(where: reason.contains)
    }

    private static func caseName(in reason: String) -> String? {
        reason.matches(of: /[A-Za-z]+/).map { String($0.0) }.first { caseNames.contains($0) }
    }

    /// The names of cases in the sources that cannot be taken for words: they have a capital letter inside, and no text of
    /// sources or fixtures has them, as the names of members on the wire do.
    public static let caseNames: Set<String> = {
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
        // What a client sends may be called like a case.
        for file in ContractFile.all {
            guard let bytes = try? Repository.fixtures.file(file.description).bytes else { continue }
            texts.formUnion(String(decoding: bytes, as: UTF8.self).matches(of: /[a-z]+[A-Z]\w*/).map { String($0.0) })
        }
        return names.subtracting(texts)
    }()
}
