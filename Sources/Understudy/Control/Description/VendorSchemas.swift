import JSON

// What is emulated.
extension NamedSchema {
    private static let evidence = Schema.word(
        "Where it is known from: documented by the vendor, observed in its clients, inferred from those, or ours.",
        ["documented", "observed", "inferred", "ours"])
    private static let source = Schema.string("The source in words.")

    static let vendors = NamedSchema(
        "Vendors",
        Schema.answer(
            "What is emulated.",
            [
                "vendors": Schema.list("The vendors.", of: vendor),
                "port": Schema.nullable(
                    Schema.integer("The port at which the vendors are; null when it is this one.", from: 1, to: 65535)),
            ]))

    private static let vendor = Schema.answer(
        "A vendor.",
        [
            "id": Schema.string("The name that files, flags and calls use."),
            "title": Schema.string("The name for people."),
            "routes": Schema.list(
                "Each method and path.",
                of: Schema.answer(
                    "A method and path.",
                    [
                        "route": Schema.string("The route's id, which several may share."),
                        "method": Schema.string("The method."),
                        "path": Schema.string("The path, parameters in braces."),
                        "evidence": evidence, "source": source,
                    ])),
            "failures": Schema.list(
                "How its calls can fail.",
                of: Schema.answer(
                    "A failure.",
                    [
                        "failure": Schema.string("Its name."), "status": status,
                        "about": Schema.string("When it is answered."), "evidence": evidence, "source": source,
                        "lookalikes": Schema.list(
                            "The vendor's other failures that look the same on the wire.", of: ["type": "string"]),
                    ])),
            "switches": Schema.list("Differences that can be chosen.", of: switchDeclaration),
            "request_facts": Schema.list("What explaining a token may want to know of its request.", of: namedThing),
            "samples": Schema.list(
                "Ids and public keys of the sample accounts.",
                of: Schema.answer(
                    "A value.", ["label": Schema.string("What it is."), "value": Schema.string("The value.")])),
        ])

    private static let namedThing = Schema.answer(
        "A fact.", ["name": Schema.string("Its name."), "about": Schema.string("What it is.")])

    private static let switchDeclaration = Schema.answer(
        "A switch.",
        [
            "name": Schema.string("Its name without the vendor."), "about": Schema.string("What it decides."),
            "documented": Schema.string("Its value in profile documented."),
            "observed": Schema.string("Its value in profile observed."),
            "values": Schema.string("What it can be set to, in words."),
            "choices": Schema.nullable(
                Schema.list("The words it can be set to, if only some can.", of: ["type": "string"])),
            "source": source,
        ])

    static let sample = NamedSchema(
        "Sample",
        Schema.answer(
            "A call that works.",
            [
                "sample": Schema.nullable(
                    Schema.answer(
                        "The call; null where the fixtures leave nothing to sign with.",
                        [
                            "method": Schema.string("The method."), "path": Schema.string("The path."),
                            "headers": Schema.list(
                                "The fields, each a name and a value.",
                                of: ["type": "array", "items": ["type": "string"], "minItems": 2, "maxItems": 2]),
                            "body": Schema.string("The content; may be empty."),
                        ]))
            ]))
}
