resource "azurerm_servicebus_subscription_rule" "big" {
  name            = "rule"
  subscription_id = "s"
  filter_type     = "SqlFilter"
  sql_filter      = "colour = 'red' AND note = \"x\""
}
resource "azurerm_servicebus_subscription_rule" "cor" {
  name = "cor"
  correlation_filter {
    correlation_id = "high"
    properties = { customProperty = "value" }
  }
}
resource "azurerm_servicebus_subscription_rule" "var" {
  sql_filter = var.filter
}
