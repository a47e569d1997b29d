import Emulation
import JSON

// Conditions on exchanges, for faults and for verification.
extension NamedSchema {
    static let conditionSchemas = [valueMatcher, exchangeCondition]

    private static let bound = Schema.either(
        "A number, or the seconds of a duration.", ["type": "number"], duration.reference)

    static let valueMatcher = NamedSchema(
        "ValueMatcher",
        Schema.either(
            "What a value must be: equal to this one, or all that the words of an object say.",
            ["type": ["string", "number", "boolean", "null"]], ["type": "array", "items": [:]],
            Schema.content(
                "At least one word.",
                [
                    "is": Schema.any("Equal to this."), "not": Schema.any("Anything but this, or nothing at all."),
                    "contains": Schema.string("A text with this in it, or a list with this among its elements."),
                    "like": Schema.string("A text of this form: * stands for any characters, ? for one."),
                    "present": Schema.boolean("Whether it is there at all."), "over": bound, "under": bound,
                ])))

    private static func each(_ about: String) -> JSON { Schema.map(about, of: valueMatcher.reference) }

    /// The members of a condition, for objects that also have others.
    static let conditionMembers: JSONObject = [
        "method": valueMatcher.reference, "path": valueMatcher.reference,
        "query": each("By parameter of the query."), "header": each("By name, in any case."),
        "form": each("By field of a form."),
        "body": each("By member of a JSON body, or JSONPath."), "claims": each("By claim, or JSONPath."),
        "token_age": valueMatcher.reference, "token_left": valueMatcher.reference, "reason": valueMatcher.reference,
    ]

    static let exchangeCondition = NamedSchema(
        "ExchangeCondition", Schema.content("What an exchange must be like; all parts must hold.", conditionMembers))
}
