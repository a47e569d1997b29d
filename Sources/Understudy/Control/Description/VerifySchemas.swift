import JSON

// Verification of the journal.
extension NamedSchema {
    static let verifySchemas = [expectation, fulfilled, unfulfilled]

    private static let criteria: JSONObject = Schema.joined(
        [
            "vendor": Schema.string("The vendor's id."),
            "route": Schema.string("The route's id, or a pattern of ids with *."),
            "status": Schema.either(
                "The status.", Schema.integer("The status code.", from: 0, to: .max),
                ["type": "string", "pattern": "^([0-9]+|[1-5][xX]{2})$"]),
            "refused": Schema.boolean("Whether it has a failure."),
            "noted": Schema.boolean("Whether it was accepted with a remark."),
            "failure": Schema.string("The failure's name."),
            "since": Schema.either(
                "That moment or a later one, by the sandbox's clock.", moment.reference,
                Schema.number("Unix seconds.", from: 0, to: 253_402_300_799)),
            "after": Schema.integer("Behind the entry of that number.", from: 0, to: .max),
            "unmatched": Schema.boolean("Whether it found no route."),
        ], conditionMembers)

    private static let bounds: JSONObject = [
        "at_least": Schema.integer("The fewest; 1 where nothing is said.", from: 0, to: .max),
        "at_most": Schema.integer("The most.", from: 0, to: .max),
        "exactly": Schema.integer("Neither more nor fewer, instead of the two others.", from: 0, to: .max),
    ]

    static let expectation = NamedSchema(
        "Expectation",
        Schema.content(
            "How many exchanges of some kind the journal shall hold.",
            Schema.joined(
                bounds,
                [
                    "where": Schema.content(
                        "What they must be like; all parts must hold.", criteria)
                ])))

    static let fulfilled = NamedSchema(
        "Fulfilled",
        Schema.answer(
            "The expectation holds.",
            [
                "verified": ["const": true], "count": Schema.integer("How many there are.", from: 0),
                "entries": Schema.list("Their numbers.", of: Schema.integer("A number.", from: 1)),
            ]))

    static let unfulfilled = NamedSchema(
        "Unfulfilled",
        Schema.answer(
            "The expectation does not hold.",
            [
                "verified": ["const": false], "count": Schema.integer("How many there are.", from: 0),
                "expected": Schema.string("The bounds, such as “exactly 1”."),
                "message": Schema.string("What was expected and found, and the nearest exchange, in one line."),
                "nearest": Schema.list(
                    "Those that miss fewest parts, or those that are too many; the latest first, five at most.",
                    of: nearMiss),
            ]))

    private static let nearMiss = Schema.answer(
        "An exchange that comes close.", optional: ["nearest_routes"],
        [
            "id": Schema.integer("The entry's number.", from: 1),
            "summary": Schema.string("What was asked, and what came of it."),
            "route": Schema.nullable(Schema.string("The route's id; null when there was none.")),
            "reason": Schema.nullable(Schema.string("Why it was refused; null when it was not.")),
            "missed": Schema.list(
                "The parts that it misses; none of one that is too many.",
                of: Schema.answer(
                    "A part.",
                    [
                        "condition": Schema.string("Which part, such as “body $.email”."),
                        "expected": Schema.string("What it demands."),
                        "found": Schema.nullable(Schema.string("What is there, secrets masked; null when nothing is.")),
                    ])),
            "nearest_routes": nearestRoutes,
        ])
}
