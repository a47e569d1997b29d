import JSON

@testable import Tokens

/// The findings of single checks, as tests ask for them.
extension CompactToken {
    func algorithm(is algorithm: Algorithm) -> Finding { certain(.algorithm(is: algorithm)) }

    func type(is type: String, required: Bool = false, exactly: Bool = false) -> Finding {
        certain(.type(is: type, required: required, exactly: exactly))
    }

    func critical() -> Finding { certain(.critical()) }

    func keyReferences() -> Finding? { finding(.keyReferences) }

    func milliseconds(in name: String) -> Finding? { finding(.milliseconds(in: name)) }

    func headerMember(_ name: String, is types: ValueTypes, required: Bool = true) -> Finding {
        certain(.headerMember(name, is: types, required: required))
    }

    func headerMember(_ name: String, equals text: String) -> Finding {
        certain(.headerMember(name, equals: text))
    }

    func claim(_ name: String, is types: ValueTypes, required: Bool) -> Finding {
        certain(.claim(name, is: types, required: required))
    }

    func claim(_ name: String, equals text: String) -> Finding { certain(.claim(name, equals: text)) }

    func claim(_ name: String, equals value: JSON) -> Finding { certain(.claim(name, equals: value)) }

    func audience(isOneOf texts: [String], acceptsArray: Bool = true) -> Finding {
        Finding("audience", source: nil) { audience(isOneOf: texts, acceptsArray: acceptsArray, &$0) }
    }

    func expiry(at moment: Double, _ rules: TimeRules = TimeRules()) -> Finding {
        Finding("expiry", source: "RFC 7519 section 4.1.4") { expiry(at: moment, rules, &$0) }
    }

    func expiry(at moment: Double, leeway: Double) -> Finding { expiry(at: moment, TimeRules(leeway: leeway)) }

    func notBefore(at moment: Double, claim: String = "nbf", _ rules: TimeRules = TimeRules()) -> Finding {
        Finding("not-before", source: nil) { notBefore(at: moment, claim: claim, rules, &$0) }
    }

    func issuedAt(at moment: Double, _ rules: TimeRules = TimeRules()) -> Finding {
        Finding("issued-at", source: nil) { notBefore(at: moment, claim: "iat", rules, &$0) }
    }

    func lifetime(atMost seconds: Double, from start: LifetimeStart, readsMilliseconds: Bool = false) -> Finding {
        Finding("lifetime", source: nil) {
            lifetime(atMost: seconds, from: start, readsMilliseconds: readsMilliseconds, &$0)
        }
    }
}
