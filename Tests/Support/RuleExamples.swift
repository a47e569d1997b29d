package import Emulation
package import Testing
import Tokens

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
    #expect(Set(ids).count == ids.count, "ids are unique", sourceLocation: sourceLocation)
    #expect(Set(breaking.keys).subtracting(ids).isEmpty, "each example has its rule", sourceLocation: sourceLocation)
    for rule in list.rules {
        let outcomes = holding.map { rule.outcome(on: $0) }
        #expect(
            outcomes.contains { $0 == .passed || $0 == nil }, "nothing shows that \(rule.id) holds",
            sourceLocation: sourceLocation)
        let broken = breaking[rule.id].flatMap { rule.outcome(on: $0) }
        let expected: Set<Finding.Outcome> = rule.failures.isEmpty ? [.noted, .notJudged] : [.failed]
        #expect(
            broken.map(expected.contains) == true,
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
