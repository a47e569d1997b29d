import Foundation
import Support

/// What the reason of a refusal has to be like, so that whoever reads the one line knows the cause.
enum ReasonForm {
    /// Failures whose reasons do not have the form yet, each as `VENDOR FAILURE`.
    static let pending: Set<String> = [
        "bloomreach attribute-invalid-type", "bloomreach attribute-unknown-id", "bloomreach batch-invalid-json",
        "bloomreach batch-no-commands", "bloomreach customer-ids-conflict", "bloomreach customer-token-ids-mismatch",
        "bloomreach invalid-field", "bloomreach message-not-found", "bloomreach mint-unknown-key",
        "bloomreach missing-event-type", "bloomreach missing-field", "bloomreach no-customer-ids",
        "bloomreach no-permission", "bloomreach stream-empty-update", "bloomreach stream-signature-required",
        "bloomreach stream-token-ids-mismatch", "bloomreach sync-token-stale", "bloomreach sync-token-unknown",
        "bloomreach unknown-id-name", "bloomreach unknown-route", "bloomreach wrong-secret",
        "comapi conversation-exists", "comapi etag-mismatch", "comapi foreign-profile", "comapi foreign-session",
        "comapi invalid-parameter", "comapi malformed-body", "comapi missing-field", "comapi nonce-reused",
        "comapi not-a-participant", "comapi owner-only", "comapi role-forbids", "comapi session-ended",
        "comapi unknown-conversation", "ims activation-code-expired", "ims activation-code-used",
        "ims activation-code-wrong", "ims activation-email-mismatch", "ims body-invalid", "ims certificate-expired",
        "ims enrollment-exists", "ims issuer-exists", "ims jwks-fetch-failed", "ims jwks-url-not-allowed",
        "ims private-key-refused", "ims state-conflict", "ims subject-mismatch", "ims subject-taken",
        "ims trip-conflict", "ims trip-not-found", "rezolve address-in-use", "rezolve address-not-found",
        "rezolve body-malformed", "rezolve body-missing-fields", "rezolve body-too-short", "rezolve body-wrong-type",
        "rezolve masked-other-user", "rezolve phone-in-use", "rezolve phone-not-found",
        "rezolve registration-duplicate", "rezolve rua-body-invalid", "rezolve rua-confirm-code-wrong",
        "rezolve rua-user-exists", "rezolve rua-user-not-found", "rezolve rua-wrong-credentials",
        "rezolve rua-wrong-password",
    ]

    /// What is wrong with the reason of a failure; empty when nothing is.
    ///
    /// - Parameter isArmed: whether somebody ordered the failure, so that nothing was found.
    static func faults(in reason: String, isArmed: Bool) -> [String] {
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
        let contrasts = ["; expected ", ", not ", "; at most ", "; at least ", "did you mean", "; known are "]
        if contrasts.contains(where: reason.contains) { return true }
        // What was looked for, and where.
        if reason.contains(/^(?:no|nobody|there is no) .+ (?:has|have|names|is called|of) ./) { return true }
        // Of a path that nobody has the nearest route is what would be right, if any is near.
        return ["has nothing at this path", "no vendor owns this path"].contains(where: reason.contains)
    }

    private static func caseName(in reason: String) -> String? {
        reason.matches(of: /[A-Za-z]+/).map { String($0.0) }.first { caseNames.contains($0) }
    }

    /// The names of cases in the sources that cannot be taken for words: they have a capital letter inside, and no text of
    /// sources or fixtures has them, as the names of members on the wire do.
    static let caseNames: Set<String> = {
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
        return names.subtracting(texts)
    }()
}

/// A refusal that a run of cases brought.
struct ObservedRefusal: Hashable, CustomStringConvertible {
    let vendor: String
    let failure: String
    let reason: String?
    let isArmed: Bool

    /// Whose failure it is.
    var name: String { "\(vendor) \(failure)" }

    /// What is wrong with its reason.
    var faults: [String] { reason.map { ReasonForm.faults(in: $0, isArmed: isArmed) } ?? ["none"] }

    var description: String { "\(vendor) \(failure): \(reason ?? "no reason")" }
}
