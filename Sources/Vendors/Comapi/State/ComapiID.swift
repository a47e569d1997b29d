import JSON

/// An id that clients choose: any text, compared byte by byte.
typealias ComapiID = ExactText
