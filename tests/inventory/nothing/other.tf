resource "kubernetes_deployment" "d" { spec { selector { match_labels = { app = "web" } } } }
data "aws_x" "y" { label_selector = "app=web" }
# sql_filter = "a = 1"
variable "sql_filter" { type = string
  description = "the sqlExpression, a = 1" }
