/// Shapes shared by several kinds of content. Source: what iOS and Android decode, vendor SDKs.
extension ContentShape {
    /// When a message or block is shown; the SDKs evaluate it.
    static let dateFilter = ContentShape.record([
        .required("enabled", .bool), .nullable("from_date", .wholeTime), .nullable("to_date", .wholeTime),
    ])

    /// How often a message or block is shown; the SDKs evaluate it.
    static let frequency = ContentShape.word(["always", "only_once", "once_per_visit", "until_visitor_interacts"])

    /// The `registered` ids that get a message or block (ours); absent for everyone.
    static let audience = ContentShape.list(of: .name, atLeast: 1)

    /// The event that shows an in-app message.
    static let trigger = ContentShape.record([
        .required("event_type", .name), .required("filter", .list(of: eventFilter)),
    ])

    /// A condition on a property of the event; one of an unknown type breaks the whole list on iOS.
    ///
    /// ``InAppMessage`` checks which operators a type allows.
    private static let eventFilter = ContentShape.record([
        .required(
            "attribute",
            .record([.required("type", .word(["property", "timestamp"])), .optional("property", .text)])),
        .required(
            "constraint",
            .record([
                .required("type", .word(["string", "number", "boolean"])), .required("operator", .text),
                .optional("operands", .list(of: operand)), .optional("value", .word(["true", "false"])),
            ])),
    ])

    private static let operand = ContentShape.record([
        .required("type", .word(["constant"])), .required("value", .text),
    ])
}
