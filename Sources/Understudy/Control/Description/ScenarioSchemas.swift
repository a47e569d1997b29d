import JSON

// Scenarios and actions.
extension NamedSchema {
    static let scenarioSchemas = [scenarios, scenarioOrder, actions]

    static let scenarios = NamedSchema(
        "Scenarios",
        Schema.answer(
            "The scenarios there are, and those that are active.",
            [
                "active": Schema.list(
                    "The active ones, the first one first.",
                    of: Schema.answer(
                        "An active scenario.",
                        [
                            "scenario": Schema.string("Its name."), "vendor": Schema.string("The vendor's id."),
                            "state": Schema.string("The state it is in."),
                            "calls": Schema.list(
                                "How many calls each rule of the state has seen.",
                                of: Schema.integer("A number.", from: 0)),
                        ])),
                "available": Schema.list(
                    "All of them.",
                    of: Schema.answer(
                        "A scenario.", optional: ["rules"],
                        [
                            "scenario": Schema.string("Its name."), "vendor": Schema.string("The vendor's id."),
                            "about": Schema.string("What it shows."),
                            "states": Schema.list("Its states, the first one first.", of: ["type": "string"]),
                            "rules": Schema.list(
                                "The rules of its states, where they were asked for.", of: scenarioRule),
                        ])),
            ]))

    private static let scenarioRule = Schema.answer(
        "A rule, in words.",
        [
            "state": Schema.string("The state it belongs to."),
            "routes": Schema.list("The ids of the routes that it is for.", of: ["type": "string"]),
            "calls": Schema.string("Which of the calls there, such as “call 3”."),
            "when": Schema.nullable(Schema.string("What else is asked of the call; null for nothing.")),
            "effect": Schema.string("What it does; empty when calls pass."),
            "go": Schema.nullable(Schema.string("The state that comes next; null to stay.")),
        ])

    static let scenarioOrder = NamedSchema(
        "ScenarioOrder",
        Schema.content(
            "A scenario to activate.", required: ["scenario"],
            [
                "scenario": Schema.string("Its name."),
                "state": Schema.string("The state to start in; the first one."),
            ]))

    static let scenarioContent = Schema.either(
        "One scenario, or several at once.", scenarioOrder.reference,
        Schema.content(
            "Several scenarios.", required: ["scenarios"],
            [
                "scenarios": Schema.list(
                    "All that are to be active, each once.",
                    of: Schema.either("A name, or an order.", ["type": "string"], scenarioOrder.reference))
            ]))

    static let actions = NamedSchema(
        "Actions",
        Schema.answer(
            "What can happen to the vendors' states.",
            [
                "actions": Schema.list(
                    "The actions.",
                    of: Schema.answer(
                        "An action.",
                        [
                            "vendor": Schema.string("The vendor's id."), "action": Schema.string("Its name."),
                            "about": Schema.string("What it does."),
                            "members": Schema.list(
                                "What it has to be told.",
                                of: Schema.answer(
                                    "A member.",
                                    [
                                        "name": Schema.string("Its name."), "about": Schema.string("What it means."),
                                        "required": Schema.boolean("Whether it must be there."),
                                    ])),
                        ]))
            ]))
}
