import JSON

// The journal and the findings in it.
extension NamedSchema {
    static let journals = [
        finding, recordedRequest, recordedFrame, recordedSocket, journalEntry, journal, briefEntry, briefJournal,
        archive,
        journalForms, journalEntryForms,
    ]

    static let finding = NamedSchema(
        "Finding",
        Schema.answer(
            "One check of a token or a request, and how it came out.",
            optional: ["expected", "found", "note", "source"],
            [
                "check": Schema.string("The check's stable name."),
                "outcome": Schema.word("How it came out.", ["passed", "failed", "noted", "not-judged"]),
                "expected": Schema.any("What the rule asks for."),
                "found": Schema.any("What is there; null when nothing is."),
                "note": Schema.string("Why it matters, or what to do."),
                "source": Schema.string("Which document says so."),
            ]))

    static let status = Schema.integer("The status code.", from: 100, to: 599)

    private static let headers = Schema.list(
        "The field lines in order, each a name and a value; credentials are masked.",
        of: ["type": "array", "items": ["type": "string"], "minItems": 2, "maxItems": 2])
    private static let body = Schema.any(
        "JSON as JSON, text as a string, other bytes as their number; null when empty. Secrets are masked.")

    static let recordedRequest = NamedSchema(
        "RecordedRequest",
        Schema.answer(
            "A request as the journal shows it.",
            [
                "method": Schema.string("The method."),
                "target": Schema.string(
                    "Path and query as they were sent, tokens masked, without the sandbox's prefix."),
                "headers": headers, "body": body,
            ]))

    static let recordedFrame = NamedSchema(
        "RecordedFrame",
        Schema.answer(
            "A message of a WebSocket as the journal shows it.",
            [
                "from": Schema.word("Who sent it.", ["client", "server"]),
                "at": Schema.string("The moment by the sandbox's clock, by RFC 3339."),
                "message": Schema.any(
                    "JSON as JSON, text as a string; the number of bytes of others and of long ones. Secrets are masked."
                ),
                "findings": Schema.list("What the vendor remarked on it.", of: finding.reference),
                "cause": Schema.nullable(
                    Schema.integer(
                        "The number of the entry whose call the server sent it for; null for greetings, echoes, actions and"
                            + " deadlines.", from: 1)),
            ]))

    static let recordedSocket = NamedSchema(
        "RecordedSocket",
        Schema.answer(
            "What passed through the WebSocket that an exchange opened.",
            [
                "received": Schema.integer("How many messages the client sent.", from: 0),
                "sent": Schema.integer("How many messages the server sent.", from: 0),
                "closed": Schema.nullable(
                    Schema.answer(
                        "How it ended; null while it has not.",
                        [
                            "code": Schema.integer("The close code of RFC 6455.", from: 1000, to: 4999),
                            "reason": Schema.string("The reason."),
                            "at": Schema.string("The moment by the sandbox's clock, by RFC 3339."),
                        ])),
                "findings": Schema.list(
                    "What the vendor remarked on its opening and its end.", of: finding.reference),
                "frames": Schema.list(
                    "The newest messages in order, as many as there is room for.", of: recordedFrame.reference),
            ]))

    static let journalEntry = NamedSchema(
        "JournalEntry",
        Schema.answer(
            "One exchange, and why it came out as it did.",
            optional: ["intervention", "nearest_routes", "note", "parts", "replica", "socket"],
            [
                "id": Schema.integer("The entry's number in its sandbox.", from: 1),
                "sandbox": Schema.string("The sandbox."),
                "at": Schema.string("The moment by the sandbox's clock, by RFC 3339."),
                "vendor": Schema.nullable(Schema.string("The vendor's id; null when nobody owns the path.")),
                "route": Schema.nullable(Schema.string("The route's id; null when there is none at the path.")),
                "status": status,
                "failure": Schema.nullable(Schema.string("The failure's name; null when the call succeeded.")),
                "reason": Schema.nullable(Schema.string("What led to the failure, in one line.")),
                "note": note, "intervention": interventions,
                "nearest_routes": nearestRoutes,
                "findings": Schema.list("Every check, in the vendor's order.", of: finding.reference),
                "request": recordedRequest.reference,
                "response": Schema.answer(
                    "The response.", ["status": status, "headers": headers, "body": body]),
                "parts": Schema.answer(
                    "The orders of the request that were refused each by itself.",
                    [
                        "refused": Schema.integer("How many there were.", from: 1),
                        "first": Schema.list("The first hundred of them.", of: refusedPart),
                    ]),
                "socket": recordedSocket.reference, "replica": replica,
            ]))

    private static let replica = Schema.string("The replica that answered, where several share a store.")

    private static let refusedPart = Schema.answer(
        "An order that was refused while the request was answered.",
        [
            "number": Schema.integer("Which of the orders.", from: 1),
            "name": Schema.string("What it asks for, in the vendor's words."),
            "failure": Schema.string("The failure's name."),
            "reason": Schema.nullable(Schema.string("What led to the failure, in one line.")),
            "findings": Schema.list("Every check that was made for it.", of: finding.reference),
        ])

    private static let note = Schema.string("What the accepted call was remarked on, in one line.")

    private static let interventions = Schema.either(
        "What influenced the answer.", Schema.string("The fault or scenario that did."),
        Schema.list(
            "The fault or scenario, if there was one, and what the vendor did to its own answer because of a rule.",
            of: Schema.either(
                "One of them.", ["type": "string"], Schema.object("The vendor's rule, and what it changed."))))

    static let nearestRoutes = Schema.list(
        "The routes that come closest to a request that found none, such as “VENDOR ROUTE: GET /path”.",
        of: ["type": "string"])

    static let journal = NamedSchema(
        "Journal",
        Schema.answer(
            "Entries of a sandbox's journal.", optional: ["replica"],
            [
                "sandbox": Schema.string("The sandbox."), "replica": replica,
                "entries": Schema.list("The entries, the oldest first.", of: journalEntry.reference),
            ]))

    static let briefEntry = NamedSchema(
        "BriefEntry",
        Schema.answer(
            "What a list shows of an exchange; the members mean what they mean in the whole entry.",
            optional: ["intervention", "nearest_routes", "note"],
            [
                "id": Schema.integer("The entry's number in its sandbox.", from: 1),
                "at": Schema.string("The moment by the sandbox's clock, by RFC 3339."),
                "vendor": Schema.nullable(Schema.string("The vendor's id.")),
                "route": Schema.nullable(Schema.string("The route's id.")),
                "status": status,
                "failure": Schema.nullable(Schema.string("The failure's name.")),
                "reason": Schema.nullable(Schema.string("What led to the failure, in one line.")),
                "method": Schema.string("The method."),
                "target": Schema.string("Path and query, tokens masked, without the sandbox's prefix."),
                "note": note, "intervention": interventions,
                "nearest_routes": nearestRoutes,
            ]))

    static let briefJournal = NamedSchema(
        "BriefJournal",
        Schema.answer(
            "Entries of a sandbox's journal, in brief.", optional: ["replica"],
            [
                "sandbox": Schema.string("The sandbox."), "replica": replica,
                "newest": Schema.integer(
                    "The number of the newest entry, whatever the filter; 0 without any.", from: 0),
                "entries": Schema.list("The entries, the oldest first.", of: briefEntry.reference),
            ]))

    static let archive = NamedSchema(
        "HTTPArchive",
        Schema.answer(
            "Exchanges as HTTP Archive 1.2.", ["log": Schema.object("Its version, who made it, and the exchanges.")]))

    static let journalForms = NamedSchema(
        "JournalForms",
        Schema.either(
            "Entries, in the form that was asked for.", journal.reference, briefJournal.reference, archive.reference))

    static let journalEntryForms = NamedSchema(
        "JournalEntryForms",
        Schema.either(
            "An entry, in the form that was asked for.", journalEntry.reference, briefEntry.reference, archive.reference
        ))
}
