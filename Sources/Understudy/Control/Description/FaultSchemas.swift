import JSON

// Faults.
extension NamedSchema {
    static let faultSchemas = [fault, faultOrder, faults]

    private static let call = Schema.integer("Which call from now on is hit, counted from 1.", from: 1, to: .max)

    static let fault = NamedSchema(
        "Fault",
        Schema.answer(
            "A documented failure that is to replace the answer of one call.",
            [
                "vendor": Schema.string("The vendor's id."), "route": Schema.string("The route's id."), "call": call,
                "fail": Schema.string("The failure's name."),
            ]))

    static let faultOrder = NamedSchema(
        "FaultOrder",
        Schema.content(
            "A fault to arm.", required: ["route", "fail"],
            [
                "vendor": Schema.string("The vendor's id, where several have a route of that id."),
                "route": Schema.string("The route's id."), "call": call,
                "fail": Schema.string("The name of a failure of the route's vendor."),
            ]))

    static let faults = NamedSchema(
        "Faults",
        Schema.answer("The armed faults.", ["faults": Schema.list("The armed faults.", of: fault.reference)]))

    /// One fault, or several.
    static let faultContent = Schema.either(
        "One fault, or several at once.", faultOrder.reference,
        Schema.content(
            "Several faults.", required: ["faults"],
            ["faults": Schema.list("All faults that are to be armed.", of: faultOrder.reference)]))
}
