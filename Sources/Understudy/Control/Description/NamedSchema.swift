import JSON

/// A JSON Schema that the control API's description refers to by name.
struct NamedSchema: Sendable {
    let name: String
    private let make: @Sendable () -> JSON

    /// Creates a schema that is built when the description is requested, to keep startup fast.
    init(_ name: String, _ schema: @escaping @autoclosure @Sendable () -> JSON) {
        self.name = name
        make = schema
    }

    var schema: JSON { make() }

    /// Where references find the schemas.
    static let place = "#/components/schemas/"

    var reference: JSON { ["$ref": .string(Self.place + name)] }

    /// All schemas; a test verifies that each one a call refers to is included.
    static let all =
        [problem, health, description, vendors, sample] + times + journals + settingsSchemas + conditionSchemas
        + faultSchemas
        + scenarioSchemas + verifySchemas + tokenSchemas + keySchemas + sandboxes + probes
}

// MARK: - Shared schemas

extension NamedSchema {
    static let problem = NamedSchema(
        "Problem",
        Schema.answer(
            "Why a call is refused.",
            [
                "error": Schema.answer(
                    "The refusal.",
                    [
                        "code": Schema.string("A stable name.", pattern: "^[a-z0-9]+(-[a-z0-9]+)*$"),
                        "message": Schema.string("What was found and what would be right."),
                    ])
            ]))

    static let description = NamedSchema(
        "Description",
        Schema.answer(
            "An OpenAPI document.",
            [
                "openapi": Schema.string("The version of OpenAPI."), "info": Schema.object("Title and release."),
                "servers": Schema.list("Where the paths begin.", of: ["type": "object"]),
                "security": Schema.list("What calls ask for.", of: ["type": "object"]),
                "paths": Schema.object("The calls."), "components": Schema.object("What the calls share."),
            ]))

    static let health = NamedSchema(
        "Health",
        Schema.answer(
            "That the server is well, and what it stands in for.", optional: ["state", "replica"],
            [
                "status": Schema.string("“ok”."),
                "version": Schema.string("The release."),
                "vendors": Schema.list(
                    "The vendors.",
                    of: Schema.answer(
                        "A vendor.",
                        [
                            "id": Schema.string("The name that files, flags and calls use."),
                            "title": Schema.string("The name for people."),
                            "routes": Schema.integer("How many routes it has.", from: 0),
                            "failures": Schema.integer("How many failures it has.", from: 0),
                        ])),
                "fixtures": Schema.string("A short text that changes with any fixture file."),
                "layers": Schema.list(
                    "The folders of fixtures that are in force, the topmost first.",
                    of: Schema.answer(
                        "A folder of fixtures.",
                        [
                            "folder": Schema.string("The folder, from the root of the file system."),
                            "unread": Schema.list(
                                "Files that look like fixtures and are read by nobody, each with a hint.",
                                of: Schema.string("A path below the folder.")),
                        ])),
                "reload": Schema.answer(
                    "How reading the fixtures anew went.",
                    [
                        "watching": Schema.boolean("Whether changed files are taken over while it runs."),
                        "count": Schema.integer("How often fixtures were replaced.", from: 0),
                        "at": Schema.nullable(Schema.string("When that was last, by the machine's clock.")),
                        "problem": Schema.nullable(
                            Schema.string("Why the files as they stand are not in force; null when they are.")),
                    ]),
                "state": Schema.answer(
                    "Where sandboxes are kept across restarts; absent without serve --state.",
                    [
                        "store": Schema.string("The database: a file, or a URL without its password."),
                        "problem": Schema.nullable(
                            Schema.string("Why sandboxes are not written there now; null when all are.")),
                    ]),
                "replica": Schema.string("The replica's name, where several share a store."),
                "set_aside": Schema.answer(
                    "What of a stored state could not be read, and is kept as it is.",
                    [
                        "count": Schema.integer("How many parts.", from: 0),
                        "parts": Schema.list(
                            "The first of them.",
                            of: Schema.answer(
                                "A part.",
                                [
                                    "sandbox": Schema.nullable(
                                        Schema.string("The sandbox, if its name could be read.")),
                                    "vendor": Schema.nullable(Schema.string("The vendor; null for the whole sandbox.")),
                                    "record": Schema.string("Where in the vendor's state; empty for all of it."),
                                    "problem": Schema.string("What was found, and what would be right."),
                                ])),
                    ]),
            ]))
}
