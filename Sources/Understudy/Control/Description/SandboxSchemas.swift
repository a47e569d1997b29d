import Emulation
import JSON

// Sandboxes.
extension NamedSchema {
    static let sandboxes = [sandbox, sandboxList]

    static let sandbox = NamedSchema(
        "Sandbox",
        Schema.answer(
            "A sandbox.", optional: ["replica"],
            [
                "name": Schema.string("Its name.", pattern: SandboxName.pattern),
                "created_at": Schema.string("When it came into being, by the machine's clock."),
                "age_seconds": Schema.integer("How long it has been there.", from: 0),
                "idle_seconds": Schema.integer("How long nobody has used it.", from: 0),
                "ttl_seconds": Schema.nullable(
                    Schema.number("How long it may lie unused; null: for as long as there is room.", from: 0)),
                "expires_in_seconds": Schema.nullable(
                    Schema.number("When it goes, if nobody uses it until then; null: while a socket is open, never.")),
                "clock": Schema.word(
                    "Whether it shows the machine's time, runs beside it, or stands still.",
                    ["machine", "moved", "frozen"]),
                "now": Schema.string("What its clock shows."),
                "seed": Schema.nullable(Schema.integer("The seed of ids and times.", from: 0)),
                "exchanges": Schema.integer("How many exchanges it has seen.", from: 0),
                "sockets": Schema.integer("How many WebSockets are open.", from: 0),
                "journal_entries": Schema.integer("How many entries its journal keeps.", from: 0),
                "journal_bytes": Schema.integer("An estimate of the memory they take.", from: 0),
                "replica": Schema.string("The replica that has it, where several share a store."),
            ]))

    static let sandboxList = NamedSchema(
        "Sandboxes",
        Schema.answer(
            "The sandboxes.", optional: ["replica", "stored"],
            [
                "sandboxes": Schema.list(
                    "The standard one first, then the others by name.", of: sandbox.reference),
                "replica": Schema.string("The replica that answers, where several share a store."),
                "stored": Schema.list("What the store of serve --state has, by name.", of: stored),
            ]))

    private static let stored = Schema.answer(
        "A sandbox in the store.", optional: ["replica"],
        [
            "name": Schema.string("Its name.", pattern: SandboxName.pattern),
            "created_at": Schema.string("When it came into being, by the machine's clock."),
            "used_at": Schema.string("When it was last used, as far as that is stored."),
            "expires_at": Schema.nullable(Schema.string("When it may go; null for never.")),
            "replica": Schema.nullable(Schema.string("The replica that has it; null for none that is alive.")),
        ])
}
