import JSON

/// An id that clients choose: any text, equal to another one when both have the same bytes.
typealias ComapiID = ExactText
