import JSON

// Minting and explaining tokens.
extension NamedSchema {
    static let tokenSchemas = [tokenKinds, mintOrder, mintedToken, explainOrder, verdicts]

    static let tokenKinds = NamedSchema(
        "TokenKinds",
        Schema.answer(
            "The kinds of token that can be minted.",
            [
                "kinds": Schema.list(
                    "The kinds.",
                    of: Schema.answer(
                        "A kind of token.",
                        [
                            "vendor": Schema.string("The vendor's id."),
                            "kind": Schema.string("The kind's name."),
                            "about": Schema.string("What it is for."),
                            "members": Schema.map(
                                "Members that an order may have besides header, claims and defect.",
                                of: ["type": "string"]),
                            "defects": Schema.list("The defects that it can have.", of: ["type": "string"]),
                        ]))
            ]))

    static let mintOrder = NamedSchema(
        "MintRequest",
        Schema.open(
            "What the token shall be like; the kind says which members it knows besides these.",
            [
                "defect": Schema.string("What shall be wrong with it; the kind lists the names."),
                "header": Schema.object("Members of the header, set last."),
                "claims": Schema.object("Claims, set last."),
            ]))

    static let mintedToken = NamedSchema(
        "MintedToken",
        Schema.answer(
            "A token.",
            [
                "token": Schema.string("The token."), "header": Schema.object("The header that it holds."),
                "claims": Schema.object("The claims that it holds."),
            ]))

    static let explainOrder = NamedSchema(
        "ExplainOrder",
        Schema.content(
            "The token that is to be explained.", required: ["token"],
            [
                "token": Schema.string("The token."),
                "vendor": Schema.string("The only vendor to be asked, by id."),
                "request": Schema.object("What is known of the request that carries it; vendors name the members."),
            ]))

    static let verdicts = NamedSchema(
        "Verdicts",
        Schema.answer(
            "What the vendors would answer.",
            [
                "verdicts": Schema.list(
                    "One for each vendor that was asked.",
                    of: Schema.answer(
                        "What a vendor would answer.",
                        [
                            "vendor": Schema.string("The vendor's id."),
                            "kind": Schema.nullable(Schema.string("What the vendor takes the token for.")),
                            "account": Schema.nullable(Schema.string("The account whose key fits.")),
                            "accepted": Schema.boolean("Whether nothing that could be judged speaks against it."),
                            "failure": Schema.nullable(Schema.string("The failure's name.")),
                            "reason": Schema.nullable(Schema.string("Why it would be refused, in one line.")),
                            "answer": verdictAnswer,
                            "findings": Schema.list("Every check.", of: finding.reference),
                            "clients": Schema.list("What the vendor's clients would do with it.", of: client),
                        ]))
            ]))

    private static let client = Schema.answer(
        "What a client would do with the token before it sends it.",
        [
            "client": Schema.string("The name of the client's rules."),
            "usable": Schema.boolean("Whether it would send the token."),
            "result": Schema.object("The result in the client's own terms."),
            "findings": Schema.list("Every check.", of: finding.reference),
        ])

    private static let verdictAnswer = Schema.nullable(
        Schema.answer(
            "The response to a request that carries the token; null when the token alone does not decide it.",
            ["status": status, "body": Schema.any("The body, as JSON where it is JSON.")]))
}
