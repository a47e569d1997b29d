/// The payload of an in-app message in the styles of newer SDKs.
///
/// Source: observed, the members that the iOS SDK decodes and the Android SDK names, all optional except the buttons
/// and their texts, which iOS requires. Sizes are texts in `px`: iOS reads 0 from any other unit.
extension ContentShape {
    static let richPayload = ContentShape.record(
        [.required("buttons", .list(of: richButton))]
            + ContentField.optional(texts, .optional(.text)) + ContentField.optional(sizes, .optional(.pixels))
            + ContentField.optional(truths, .optional(.bool)) + ContentField.optional(formats, formatWords))

    private static let richButton = ContentShape.record(
        [
            .required("button_text", .text), .nullable("button_type", .word(["cancel", "deep-link", "browser"])),
            .nullable("button_enabled", .bool), .nullable("button_has_border", .bool),
        ]
            + ContentField.optional(
                [
                    "button_link", "button_text_color", "button_background_color", "button_width", "button_margin",
                    "button_padding", "button_align", "button_border_color", "button_font_url",
                ], .optional(.text))
            + ContentField.optional(
                ["button_corner_radius", "button_border_width", "button_font_size", "button_line_height"],
                .optional(.pixels))
            // iOS and Android use different names.
            + ContentField.optional(["button_format", "button_font_format"], formatWords))

    private static let formatWords = ContentShape.optional(.list(of: .text))

    private static let texts = [
        "image_url", "image_size", "image_margin", "image_object_fit", "image_aspect_ratio_width",
        "image_aspect_ratio_height", "overlay_color", "title", "title_align", "title_text_color", "title_font_url",
        "title_padding", "body_text", "body_align", "body_text_color", "body_font_url", "body_padding",
        "close_button_margin", "close_button_image_url", "close_button_background_color", "close_button_color",
        "background_color", "container_margin", "container_padding", "buttons_align", "text_position",
        "message_position",
    ]

    private static let sizes = [
        "image_corner_radius", "title_text_size", "title_line_height", "body_text_size", "body_line_height",
        "container_corner_radius",
    ]

    private static let truths = [
        "image_enabled", "image_overlay_enabled", "text_over_image", "title_enabled", "body_enabled",
        "close_button_enabled",
    ]

    private static let formats = ["title_format", "body_format"]
}
