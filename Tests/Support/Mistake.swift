package import Contracts
package import Emulation
import Expectations
import Foundation
import HTTPTypes
package import Testing
import Tokens

/// A mistake in a client or in signing its tokens, and what the one-line reason says about it.
package struct Mistake: Sendable, CustomStringConvertible {
    package let description: String
    /// The resulting failure; `nil` if any will do.
    package let failure: String?
    /// What the reason must not repeat.
    package let secrets: [String]
    /// Phrases that the reason contains.
    package let phrases: [String]
    package let send: World.Send

    /// A mistake, the resulting failure, what the reason names, ignoring case, and what it must not repeat.
    package init(
        _ description: String, _ failure: String? = nil, says phrases: String..., hides secrets: [String] = [],
        by send: @escaping World.Send
    ) {
        (self.description, self.failure, self.phrases, self.secrets, self.send) = (
            description, failure, phrases, secrets, send
        )
    }

    package func check(in world: World) async throws {
        let answer = try await send(world)
        #expect(answer.status >= 400)
        if let failure { expect(answer.entry?.record.failure, is: failure) }
        let reason = answer.entry?.explanation ?? ""
        for phrase in phrases where !reason.lowercased().contains(phrase.lowercased()) {
            Issue.record("“\(phrase)” is not in: \(reason)")
        }
        for secret in secrets { #expect(!reason.contains(secret), "\(reason)") }
    }
}

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

/// Shows that each rule of a list can both hold and break.
///
/// A rule holds when it passes or does not apply, and breaks when it fails. A rule without failures is shown by a note
/// or by missing input. A rule without both examples, or an example without its rule, fails the test.
///
/// - Parameters:
/// - holding: facts for which some rules hold.
/// - breaking: facts by the id of the rule that they break.
package func expectExamples<Facts>(
    of list: RuleList<Facts>, holding: [Facts], breaking: [String: Facts],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let ids = list.rules.map(\.id)
    expect(Set(ids).count, is: ids.count, "ids are unique", sourceLocation: sourceLocation)
    #expect(Set(breaking.keys).subtracting(ids).isEmpty, "each example has its rule", sourceLocation: sourceLocation)
    for rule in list.rules {
        let outcomes = holding.map { rule.outcome(on: $0) }
        #expect(
            outcomes.contains { $0 == .passed || $0 == nil }, "nothing shows that \(rule.id) holds",
            sourceLocation: sourceLocation)
        let broken = breaking[rule.id].flatMap { rule.outcome(on: $0) }
        let expected: Set<Finding.Outcome> = rule.failures.isEmpty ? [.noted, .notJudged] : [.failed]
        expect(
            broken.map(expected.contains), is: true,
            "nothing shows that \(rule.id) is broken: \(String(describing: broken))", sourceLocation: sourceLocation)
    }
    expectAgreement(of: list, on: holding + Array(breaking.values), sourceLocation: sourceLocation)
}

/// Expects that rules have the same outcome with or without recording their findings.
package func expectAgreement<Facts>(
    of list: RuleList<Facts>, on examples: [Facts], sourceLocation: SourceLocation = #_sourceLocation
) {
    for facts in examples {
        for rule in list.rules where rule.outcome(on: facts) != rule.finding(on: facts)?.outcome {
            Issue.record("\(rule.id): \(String(describing: rule.finding(on: facts)))", sourceLocation: sourceLocation)
        }
    }
}

/// Texts that each break one rule of a token's form, by the rule's id.
///
/// - Parameter sound: a well-formed token.
package func brokenForms(of sound: String) -> [String: String] {
    let parts = sound.split(separator: ".").map(String.init)
    func token(_ header: String? = nil, _ payload: String? = nil, _ signature: String? = nil) -> String {
        "\(header ?? parts[0]).\(payload ?? parts[1]).\(signature ?? parts[2])"
    }
    func encoded(_ text: String) -> String { Base64URL.encode(Array(text.utf8)) }
    return [
        "size": String(repeating: "a", count: 20_000), "parts": parts[0], "header-base64url": token("~" + parts[0]),
        "payload-base64url": token(nil, "~" + parts[1]), "signature-base64url": token(nil, nil, "~" + parts[2]),
        "header-json": token(encoded("{")), "header-duplicates": token(encoded(#"{"alg":"a","alg":"b"}"#)),
        "payload-json": token(nil, encoded("[]")), "payload-duplicates": token(nil, encoded(#"{"a":1,"a":2}"#)),
    ]
}

package struct ContractFile: Sendable, CustomStringConvertible {
    package let vendor: String
    package let name: String

    /// The path below the fixtures.
    package var description: String { "\(vendor)/contract/\(name)" }

    package func read() throws -> HurlFile {
        try HurlFile(name: description, bytes: Repository.fixtures.file(description).bytes)
    }

    /// The files of all mounted vendors.
    package static let all: [ContractFile] = {
        let vendors = (try? Stage.shared().emulator.vendors) ?? []
        return vendors.map(\.identity.id).flatMap { vendor in
            Repository.fixtures.names(in: vendor + "/contract").map { ContractFile(vendor: vendor, name: $0) }
        }
    }()
}
