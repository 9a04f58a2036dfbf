package upstream

// Secured is the transport of origins with https.
var Secured = secured
