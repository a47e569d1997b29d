import Emulation
import JSON

// Keys.
extension NamedSchema {
    static let keySchemas = [keys, issuer, keyDrill]

    static let keyDrill = NamedSchema(
        "KeyDrill",
        Schema.word(
            KeyDrill.allCases.map { "\($0.rawValue): \($0.about)" }.joined(separator: " "),
            KeyDrill.allCases.map(\.rawValue)))

    static let issuer = NamedSchema(
        "Issuer",
        Schema.answer(
            "An issuer with the keys that it publishes.",
            [
                "vendor": Schema.string("The vendor's id."), "issuer": Schema.string("The issuer's name."),
                "algorithm": Schema.string("What the keys sign with."),
                "broken": Schema.boolean("Whether asking for the keys is answered by an error."),
                "fetches": Schema.integer("How often the keys were asked for.", from: 0),
                "keys": Schema.list(
                    "The published keys, the one that signs first.",
                    of: Schema.answer(
                        "A key.",
                        [
                            "kid": Schema.nullable(Schema.string("Its name.")),
                            "role": Schema.word(
                                "What it is for.", IssuerKeys.Published.Role.allCases.map(\.rawValue)),
                            "jwk": Schema.any("The public key (RFC 7517)."),
                        ])),
            ]))

    private static let fetched = Schema.answer(
        "The keys that an issuer publishes at a URL.",
        [
            "vendor": Schema.string("The vendor's id."), "issuer": Schema.string("The issuer's name."),
            "url": Schema.string("Where they are published; {self} is this server."),
            "kids": Schema.list("The names of the usable keys.", of: Schema.nullable(Schema.string("A key's name."))),
            "fetches": Schema.integer("How often the URL was asked.", from: 0),
            "fetched_at": Schema.nullable(Schema.integer("When the keys came, in Unix seconds.")),
            "expires_at": Schema.nullable(Schema.integer("When they are to be asked for anew, in Unix seconds.")),
            "problem": Schema.nullable(Schema.string("Why the last attempt brought none.")),
        ])

    static let keys = NamedSchema(
        "Keys",
        Schema.answer(
            "What the vendors' tokens are signed with.",
            [
                "issuers": Schema.list("The issuers that publish keys.", of: issuer.reference),
                "fetched": Schema.list("The keys that are published elsewhere, as this sandbox has them.", of: fetched),
                "secrets": Schema.list(
                    "The secrets that are shared with those who sign; never themselves.",
                    of: Schema.answer(
                        "A secret.",
                        [
                            "vendor": Schema.string("The vendor's id."), "owner": Schema.string("Whose it is."),
                            "algorithm": Schema.string("What it signs with."),
                            "bytes": Schema.integer("How many bytes it has.", from: 1),
                        ])),
            ]))
}
