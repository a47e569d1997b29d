import JSON

// Faults.
extension NamedSchema {
    static let faultSchemas = [pause, pauseRange, drip, wireFault, ownResponse, fault, faultOrder, faults]

    static let pause = NamedSchema(
        "Pause",
        Schema.string(
            "A duration of at most 600 seconds, such as “250ms” or “2s”.", pattern: "^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$"))

    // Named, since client generators lose objects inside a choice that refer to others.
    static let pauseRange = NamedSchema(
        "PauseRange",
        Schema.content(
            "A range to draw from.", required: ["from", "to"], ["from": pause.reference, "to": pause.reference]))

    static let drip = NamedSchema(
        "Drip",
        Schema.content(
            "The answer goes out in portions.", required: ["chunk", "every"],
            ["chunk": Schema.integer("Bytes of a portion.", from: 1, to: .max), "every": pause.reference]))

    static let wireFault = NamedSchema(
        "WireFault",
        Schema.either(
            "What goes wrong on the wire; a delay may stand beside one of the others.",
            Schema.word("In a word.", ["reset", "empty", "garbage"]),
            Schema.content(
                "With more to say.",
                [
                    "delay": Schema.either(
                        "How long the answer waits, at most 600s.", pause.reference, pauseRange.reference),
                    "reset": Schema.boolean("Whether the connection breaks."),
                    "empty": Schema.boolean("Whether it closes without an answer."),
                    "garbage": Schema.boolean("Whether bytes that are no HTTP are answered."),
                    "truncate": Schema.integer("How many bytes of content still go out.", from: 0, to: .max),
                    "drip": drip.reference,
                ])))

    static let ownResponse = NamedSchema(
        "OwnResponse",
        Schema.content(
            "A response in place of the vendor's; strings in it may be templates.",
            [
                "status": Schema.integer("The status code; 200.", from: 200, to: 599),
                "headers": Schema.map("Field values by name.", of: ["type": "string"]),
                "body": Schema.any("A text, or JSON."),
            ]))

    /// What a fault does, or a rule of a scenario.
    static let effect: JSONObject = [
        "fail": Schema.string("The name of the failure of the vendor that is answered."),
        "parameters": Schema.object("What the failure's body is filled with."),
        "respond": ownResponse.reference,
        "do": Schema.either(
            "An action of the vendor: its name, or one name with its members.", ["type": "string"],
            ["type": "object", "minProperties": 1, "maxProperties": 1]),
        "fault": wireFault.reference,
    ]

    private static let strikes: JSONObject = [
        "route": Schema.either(
            "A route's id, with * all that fit, or a list of such; without it every route of the vendor.",
            ["type": "string"], ["type": "array", "items": ["type": "string"], "minItems": 1]),
        "when": exchangeCondition.reference,
        "times": Schema.either(
            "How often it strikes; once, or always where every or probability say which calls.",
            ["type": "integer", "minimum": 1, "maximum": JSON(.max)], ["const": "always"]),
        "call": Schema.integer("The call of that number from now on is hit.", from: 1, to: .max),
        "every": Schema.integer("Every so manieth call is hit.", from: 1, to: .max),
        "probability": Schema.number("Each call is hit with that probability.", from: 0, to: 1),
        "seed": Schema.integer("What the probability is drawn from.", from: 0, to: .max),
    ]

    private static let order = Schema.joined(
        ["vendor": Schema.string("The vendor's id; the one that has the route.")], Schema.joined(strikes, effect))

    static let faultOrder = NamedSchema(
        "FaultOrder",
        Schema.content(
            "A fault to arm. It names a route or a vendor, says what happens, and of call, every and probability at most one.",
            order))

    static let fault = NamedSchema(
        "Fault",
        Schema.answer(
            "A fault as it was ordered, and what it has seen.",
            optional: Set(order.map(\.name)).subtracting(["vendor"]),
            Schema.joined(
                order,
                [
                    "calls": Schema.integer("How many calls it was for.", from: 0),
                    "strikes": Schema.integer("How often it struck.", from: 0),
                ])))

    static let faults = NamedSchema(
        "Faults",
        Schema.answer("The armed faults.", ["faults": Schema.list("The armed faults.", of: fault.reference)]))

    static let faultContent = Schema.either(
        "One fault, or several at once.", faultOrder.reference,
        Schema.content(
            "Several faults.", required: ["faults"],
            ["faults": Schema.list("All faults that are to be armed.", of: faultOrder.reference)]))
}
